package identity

import "golang.org/x/sys/windows/registry"

// MachineID is the id that the setup of Windows gave this machine, "" if there is none.
func MachineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }()
	id, _, _ := key.GetStringValue("MachineGuid")
	return id
}
