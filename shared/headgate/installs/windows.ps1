# Installs Headgate's supervisor and a collector on this host as a service, or changes the install that is there.
# `headgate fleet install FLEET --platform windows`, or the fleet's page, composes the command that runs it.
#
# The service was tried under Wine, and never on Windows itself: try one host before you install more.
# To remove it: & "$env:ProgramFiles\Headgate\bin\headgate-supervisor.exe" uninstall "$env:ProgramFiles\Headgate"
param([Parameter(Mandatory = $true)][string] $Order)
$ErrorActionPreference = 'Stop'
# Its bar makes a download many times slower.
$ProgressPreference = 'SilentlyContinue'
# Both texts are ASCII. Windows PowerShell would put a byte order mark in front of UTF-8.
$OutputEncoding = [Text.Encoding]::ASCII

$text = @'
@VALUES@
'@
$values = $text | ConvertFrom-Json
$arch = switch ($env:PROCESSOR_ARCHITECTURE) {
    'AMD64' { 'amd64' }
    'ARM64' { 'arm64' }
    default { throw "headgate: there is no collector for this host's processor, $env:PROCESSOR_ARCHITECTURE" }
}
$published = $values.supervisors.$arch
if (-not $published) { throw "headgate: the supervisor for windows and $arch is not published on this server" }

$folder = Join-Path $env:TEMP ('headgate-' + [guid]::NewGuid())
New-Item -ItemType Directory -Path $folder | Out-Null
try {
    $fetched = Join-Path $folder 'fetched'
    $program = Join-Path $folder 'headgate-supervisor.exe'
    $link = '{0}/supervisor-windows-{1}?{2}' -f $values.files, $arch, $values.query
    Invoke-WebRequest -UseBasicParsing -Uri $link -OutFile $fetched
    $seen = (Get-FileHash -Algorithm SHA256 -Path $fetched).Hash
    if ($seen -ne $published.sha256) {
        throw "headgate: the supervisor is not what was published: its SHA-256 is $seen; nothing was changed"
    }
    if ($published.gzip) {
        $from = [IO.File]::OpenRead($fetched)
        $to = [IO.File]::Create($program)
        try {
            $unpacked = New-Object IO.Compression.GZipStream($from, [IO.Compression.CompressionMode]::Decompress)
            $unpacked.CopyTo($to)
        }
        finally {
            $to.Dispose()
            $from.Dispose()
        }
    }
    else {
        Move-Item -Path $fetched -Destination $program
    }
    # On standard input, because every user sees the arguments of processes.
    $Order, $text | & $program install
    if ($LASTEXITCODE -ne 0) { throw 'headgate: the supervisor was not installed; the reason is above' }
}
finally {
    Remove-Item -Recurse -Force -Path $folder -ErrorAction SilentlyContinue
}
