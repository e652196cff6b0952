package identity

import "testing"

func TestTheIDOfAMacIsFoundInWhatItsCommandPrints(t *testing.T) {
	said := "+-o J293AP  <class IOPlatformExpertDevice, id 0x100000211>\n    {\n      \"IOPlatformUUID\" = \"0F5A9C61-1B1C-5D3E-9B7A-2C4D6E8F0A1B\"\n    }\n"
	if id := platformUUID(said); id != "0F5A9C61-1B1C-5D3E-9B7A-2C4D6E8F0A1B" {
		t.Errorf("%q", id)
	}
	if id := platformUUID("another answer"); id != "" {
		t.Errorf("%q", id)
	}
}
