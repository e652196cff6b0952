package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var everything = Kinds{Credentials: true, Cards: true, Mail: true, Random: true}

var (
	chanceOf = regexp.MustCompile(`\{([abdhmpquv]|basic)([0-9]*)\}`)
	marked   = regexp.MustCompile(`«([^»]*)»`)
	alphabet = map[string]string{
		"a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
		"b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
		"d": "0123456789", "h": "0123456789abcdef", "m": "abcdefghijklmnopqrstuvwxyz", "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
		"u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "v": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	}
)

// lines are those of a corpus, without its comments.
func lines(t testing.TB, name string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if !strings.HasPrefix(line, "# ") {
			all = append(all, strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(line))
		}
	}
	return all
}

// planted makes a text of a line, and the secrets in it.
func planted(line string, chance *rand.Rand) (string, []string) {
	line = chanceOf.ReplaceAllStringFunc(line, func(found string) string {
		match := chanceOf.FindStringSubmatch(found)
		some := func(n int, from string) string {
			text := make([]byte, n)
			for i := range text {
				text[i] = from[chance.IntN(len(from))]
			}
			return string(text)
		}
		switch match[1] {
		case "p":
			return some(5, alphabet["m"]) + some(2, alphabet["d"]) + some(3, alphabet["a"])
		case "basic":
			return base64.StdEncoding.EncodeToString([]byte("ada:" + some(9, alphabet["a"])))
		}
		n, _ := strconv.Atoi(match[2])
		return some(n, alphabet[match[1]])
	})
	var all []string
	for _, match := range marked.FindAllStringSubmatch(line, -1) {
		all = append(all, match[1])
	}
	return strings.NewReplacer("«", "", "»", "").Replace(line), all
}

// Each kind alone, so that a secret is not found for being random only.
func TestPlantedSecretsAreFound(t *testing.T) {
	withoutChance := everything
	withoutChance.Random = false
	chance := rand.New(rand.NewPCG(37, 4))
	all := lines(t, "planted.txt")
	missed, named := 0, 0
	for _, line := range all {
		text, secrets := planted(line, chance)
		if isIn(Redact(text, everything), secrets) {
			missed++
			t.Errorf("%q became %q", text, Redact(text, everything))
		}
		if isIn(Redact(text, withoutChance), secrets) {
			named++
			t.Logf("found for being random only: %q", text)
		}
	}
	t.Logf("%d of %d found, %d of them for being random only", len(all)-missed, len(all), named-missed)
}

func isIn(text string, secrets []string) bool {
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return true
		}
	}
	return false
}

func TestTextsThatLookLikeSecretsStay(t *testing.T) {
	all := lines(t, "stays.txt")
	for _, text := range all {
		if got := Redact(text, everything); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	t.Logf("%d texts", len(all))
}

// In lower case, these letters have another number of bytes.
func TestSecretsAreFoundBesideEveryLetter(t *testing.T) {
	for _, letter := range []string{"İ", "Ⱥ", "\u212a"} {
		text := letter + " AKIAIOSFODNN7EXAMPLE"
		if got := Redact(text, Kinds{Credentials: true}); got != letter+" "+Redacted {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTheDataAreWholeAndEachRuleCompiles(t *testing.T) {
	seen := map[string]bool{}
	for _, one := range rules() {
		if seen[one.ID] || len(one.Keywords) == 0 {
			t.Errorf("%s is there twice, or is looked for in every text", one.ID)
		}
		seen[one.ID] = true
		one.compiled()
	}
	if len(seen) < 200 {
		t.Errorf("%d rules", len(seen))
	}
}

// One pass over a text finds what a search for each word finds.
func TestFormsAreFoundByTheirWordsInOnePass(t *testing.T) {
	var words [][]string
	for _, rule := range rules() {
		words = append(words, rule.Keywords)
	}
	for _, way := range everyWay {
		words = append(words, way.words)
	}
	texts := append(lines(t, "stays.txt"), lines(t, "planted.txt")...)
	texts = append(texts, "", ":", "key", strings.Join(texts, "\n"))
	for _, form := range words {
		texts = append(texts, form...)
	}
	for _, text := range texts {
		lower := strings.ToLower(text)
		for form, has := range formWords().in(lower) {
			if has != slices.ContainsFunc(words[form], func(word string) bool { return strings.Contains(lower, word) }) {
				t.Fatalf("%q: %v has words in it: %v", text, words[form], has)
			}
		}
	}
}

// `go test -bench . ./secrets/`: the corpus, and a line of a log that holds nothing.
func BenchmarkRedact(b *testing.B) {
	for name, texts := range map[string][]string{
		"corpus": append(lines(b, "stays.txt"), lines(b, "planted.txt")...),
		"log":    {strings.Repeat(`2026-11-25T23:11:00.123Z INFO checkout took 31 ms {"order":"1842","user":"ada","items":3} `, 3)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, text := range texts {
					Redact(text, everything)
				}
			}
			b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "records/s")
		})
	}
}
