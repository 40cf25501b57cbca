package size

import "testing"

func TestRoundTrip(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 B", 1: "1 B", 999: "999 B", 1000: "1 KB", 1024: "1 KiB", 64 << 10: "64 KiB", 1e6: "1 MB", 1500e3: "1500 KB", 1 << 20: "1 MiB",
		2e9: "2 GB", 2 << 30: "2 GiB", 1<<63 - 1: "9223372036854775807 B",
	} {
		if got := Text(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
		for _, text := range []string{Text(n), Exact(n)} {
			if got, err := Parse(text); err != nil || got != n {
				t.Errorf("%q is read as %d, %v", text, got, err)
			}
		}
	}
	if n, err := Parse("65536"); err != nil || n != 65536 {
		t.Errorf("a plain number is read as %d, %v", n, err)
	}
	for _, text := range []string{"", "GB", "-1", "1.5GB", "2 gb", "2TB", "9223372036854775807KB", "1  MB", "1e3", "９"} {
		if n, err := Parse(text); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}
