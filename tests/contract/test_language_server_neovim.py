"""Neovim without a screen, with the lines of docs/editors.md for versions before 0.11, which newer ones still run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import ROOT

pytestmark = [
    pytest.mark.contract,
    pytest.mark.collector,
    pytest.mark.skipif(
        shutil.which("nvim") is None,
        reason="Neovim is not installed, and no setup installs it; test_language_server.py needs none",
    ),
]

# What a person does one after the other; prints what the editor then shows.
DRIVER = """
local seen = {}
local function ask(method, more)
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  for key, value in pairs(more or {}) do params[key] = value end
  local result
  vim.wait(60000, function()
    for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 60000) or {}) do result = answer.result end
    return result ~= nil and result ~= vim.NIL
  end, 100)
  return result
end
local function to(pattern, columns)
  vim.fn.cursor(1, 1)
  vim.fn.search(pattern, "cW")
  vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + (columns or 0))
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 1 end, 50)
for _, one in ipairs(vim.diagnostic.get(0)) do
  table.insert(seen, { code = one.code or one.user_data.lsp.code, line = one.lnum, message = one.message })
end
to("tail_sampling:")
local hover = ask("textDocument/hover").contents.value
to("policies:", 3)
local setting = ask("textDocument/hover").contents.value
to("\\\\[memory_limiter", 4)
local definition = ask("textDocument/definition").range.start
local edit = ask("textDocument/rename", { newName = "memory_limiter/first" })
to("decision_wiat", 2)
local here = vim.lsp.util.make_range_params().range
local fixes = {}
for _, action in ipairs(ask("textDocument/codeAction", { range = here, context = { diagnostics = {} } })) do
  table.insert(fixes, action.title)
end
local before = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")
vim.lsp.util.apply_workspace_edit(edit, "utf-16")
local renamed = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")
to("exporters: \\\\[otlp", 12)
local labels = {}
for _, item in ipairs(ask("textDocument/completion").items) do table.insert(labels, item.label) end
io.stdout:write(vim.fn.json_encode({
  findings = seen, hover = hover, setting = setting, definition = definition, fixes = fixes, labels = labels,
  before = before, renamed = renamed,
}))
vim.cmd("qall!")
"""


def test_neovim_shows_findings_completion_hover_definition_rename_and_fixes(tmp_path: Path) -> None:
    page = Path(ROOT, "docs", "editors.md").read_text()
    setup = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)[1]
    text = Path(ROOT, "flows", "tail-sampling", "collector.yaml").read_text()
    broken = text.replace("decision_wait", "decision_wiat").rstrip("\n")
    (tmp_path / "collector.yaml").write_text(broken)
    (tmp_path / "setup.lua").write_text(f"{setup}\nvim.cmd('filetype on')\nvim.cmd('edit collector.yaml')\n{DRIVER}")
    command = tmp_path / "bin" / "headgate"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m headgate_cli.main "$@" --local\n')
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
    }
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-n", "-c", "luafile setup.lua"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.stdout.startswith("{"), (done.stdout[-2_000:], done.stderr[-2_000:])
    seen = json.loads(done.stdout)

    assert "unknown_key" in [one["code"] for one in seen["findings"]]
    assert "tail\\_sampling" in seen["hover"]
    assert "Type" in seen["setting"]
    assert seen["definition"]["line"] == broken[: broken.index("  memory_limiter:")].count("\n")
    assert seen["before"] == broken
    assert seen["renamed"] == broken.replace("memory_limiter", "memory_limiter/first")
    assert "Change to decision_wait" in seen["fixes"]
    assert "otlp" in seen["labels"]
