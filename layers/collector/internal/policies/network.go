package policies

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// place is a client or a server in a component's configuration: the part that the collector's own HTTP and gRPC packages
// read. Path leads to it from the component.
type place struct {
	path   []string
	isHTTP bool
}

// setting returns the path of a setting in a place.
func (p place) setting(path ...string) []string { return append(slices.Clip(p.path), path...) }

// address returns a setting that is an endpoint.
func (e *entry) address(path ...string) address { return addressOf(e.text(path...)) }

// shown returns an endpoint for a message: without credentials, and without what a variable holds.
func (e *entry) shown(path []string) string {
	if !e.sets(path...) {
		return "other machines"
	}
	if node := e.of.document.Node(e.path(path...)...); node != nil && strings.Contains(node.Value, "$") {
		return "the address in its " + path[len(path)-1]
	}
	if shown := e.address(path...).String(); shown != "" {
		return shown
	}
	return "its address"
}

// clients returns the places at which a component reads how it connects to others by HTTP or gRPC.
func (e *entry) clients() []place {
	if e.clientsFound == nil {
		e.clientsFound = append([]place{}, e.places("ClientConfig")...)
	}
	return e.clientsFound
}

// servers returns those at which it reads where it listens, without those that it has switched off.
func (e *entry) servers() []place {
	if e.serversFound != nil {
		return e.serversFound
	}
	e.serversFound = append([]place{}, slices.DeleteFunc(e.places("ServerConfig"), func(server place) bool {
		for end := range len(server.path) {
			if e.setting(append(slices.Clone(server.path[:end+1]), "enabled")...) == false {
				return true
			}
		}
		return false
	})...)
	return e.serversFound
}

func (e *entry) places(name string) []place {
	var found []place
	if config := e.read(); config != nil {
		seek(reflect.ValueOf(config), nil, maxDepth, func(path []string, value reflect.Value) bool {
			of := value.Type()
			isHTTP := strings.HasSuffix(of.PkgPath(), "/config/confighttp")
			if of.Name() != name || !isHTTP && !strings.HasSuffix(of.PkgPath(), "/config/configgrpc") {
				return true
			}
			found = append(found, place{append([]string(nil), path...), isHTTP})
			return false
		})
	}
	return found
}

// Limits on how far the structures of a configuration are followed.
const (
	maxDepth   = 12
	maxEntries = 100
)

// seek calls visit for the structures of a configuration that are set, with the keys that lead to them, and goes on below
// one if visit returns true.
func seek(value reflect.Value, path []string, depth int, visit func(path []string, value reflect.Value) bool) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		if value.IsNil() {
			return
		}
		value = value.Elem()
	}
	if depth == 0 {
		return
	}
	switch value.Kind() {
	case reflect.Struct:
	case reflect.Slice:
		for i := range min(value.Len(), maxEntries) {
			seek(value.Index(i), append(path, strconv.Itoa(i)), depth-1, visit)
		}
		return
	case reflect.Map:
		seekEntries(value, path, depth, visit)
		return
	default:
		return
	}
	if inner, isOptional := optional(value); isOptional {
		if inner.IsValid() {
			seek(inner, path, depth-1, visit)
		}
		return
	}
	if !visit(path, value) {
		return
	}
	for _, field := range fieldsIn(value.Type()) {
		switch {
		case field.name == "-" || field.remains:
		case field.squashes:
			seek(value.Field(field.at), path, depth-1, visit)
		case field.name == "":
			seek(value.Field(field.at), append(path, field.plainName), depth-1, visit)
		default:
			seek(value.Field(field.at), append(path, field.name), depth-1, visit)
		}
	}
}

func seekEntries(mapping reflect.Value, path []string, depth int, visit func([]string, reflect.Value) bool) {
	for n, entries := 0, mapping.MapRange(); n < maxEntries && entries.Next(); n++ {
		key := fmt.Sprint(entries.Key().Interface())
		if text, is := entries.Key().Interface().(fmt.Stringer); is {
			key = text.String()
		}
		seek(entries.Value(), append(path, key), depth-1, visit)
	}
}

// optional returns what a configoptional.Optional holds, the zero value if it holds nothing.
func optional(value reflect.Value) (reflect.Value, bool) {
	if !strings.HasSuffix(value.Type().PkgPath(), "/config/configoptional") || !value.CanAddr() {
		return reflect.Value{}, strings.HasSuffix(value.Type().PkgPath(), "/config/configoptional")
	}
	get := value.Addr().MethodByName("Get")
	if !get.IsValid() || get.Type().NumIn() != 0 || get.Type().NumOut() != 1 {
		return reflect.Value{}, true
	}
	return get.Call(nil)[0], true
}

// address is an endpoint as components write it: `host:4317`, `:4317`, `https://host/path`, `unix:///path`.
type address struct{ scheme, host, port, path string }

// addressOf never fails: what it cannot read is a host.
func addressOf(endpoint string) address {
	var a address
	rest := strings.TrimSpace(endpoint)
	if scheme, after, has := strings.Cut(rest, "://"); has {
		a.scheme, rest = strings.ToLower(scheme), after
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		if a.scheme == "dns" || a.scheme == "passthrough" {
			rest = rest[strings.LastIndexByte(rest, '/')+1:]
		} else {
			rest, a.path = rest[:slash], rest[slash:]
		}
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), ""
	}
	a.host, a.port = strings.ToLower(host), port
	if a.port == "" {
		a.port = map[string]string{"http": "80", "https": "443"}[a.scheme]
	}
	return a
}

// isLocal tells whether a client reaches this machine only. An address without a host is one.
func (a address) isLocal() bool {
	if a.scheme == "unix" || a.scheme == "npipe" || a.host == "localhost" || strings.HasSuffix(a.host, ".localhost") {
		return true
	}
	if a.host == "" {
		return a.port != ""
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// isEverywhere tells whether a server listens on all of a machine's addresses.
func (a address) isEverywhere() bool {
	if a.host == "" {
		return a.port != "" && a.scheme != "unix"
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.IsUnspecified()
}

// isReachable tells whether other machines reach a server.
func (a address) isReachable() bool {
	return a.isEverywhere() || a.port != "" && !a.isLocal()
}

// String returns the address without credentials and path, which may be secrets.
func (a address) String() string {
	text := a.host
	if a.port != "" {
		text = net.JoinHostPort(a.host, a.port)
	}
	if a.scheme != "" {
		return a.scheme + "://" + text
	}
	return text
}
