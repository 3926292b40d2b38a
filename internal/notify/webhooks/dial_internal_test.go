package webhooks

import (
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.1.2.3", "169.254.0.1", "169.254.169.254",
		"172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9",
		"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1",
		"100::1", "2001::1", "2001:db8::1", "2002:a00:1::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
	} {
		if isPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as public", text)
		}
	}
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700::1111", "172.32.0.1", "100.128.0.1", "2a00:1450::1"} {
		if !isPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s does not count as public", text)
		}
	}
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "8.8.8.8:80": true, "8.8.8.8:8443": true, "8.8.8.8:22": false, "8.8.8.8:25": false,
		"10.0.0.1:443": false, "[::1]:443": false, "host:443": false,
	} {
		if got := publicOnly("tcp", address, nil) == nil; got != want {
			t.Errorf("dialling %s: %v, want %v", address, got, want)
		}
	}
}
