package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// It prevents: a command that adds or removes a notification takes an operator's comments, order or
// other settings away, or writes a file that means something else.
func TestChangedNotificationsKeepWhatPeopleWrote(t *testing.T) {
	bell := "- {way: \"bell\"}\n"
	for name, c := range map[string]struct{ before, remove, after string }{
		"not there":        {threeNames, "", threeNames + "notify:\n  " + bell},
		"no last line end": {strings.TrimSuffix(threeNames, "\n"), "", threeNames + "notify:\n  " + bell},
		"the example":      {example, "", strings.Replace(example, "notify: []\n", "notify:\n  "+bell, 1)},
		"nothing, between": {"fleet: demo\nnotify:\nalias: white # mine\nhuman: nat\n", "", "fleet: demo\nnotify:\n  " + bell + "alias: white # mine\nhuman: nat\n"},
		"below others": {"notify:\n- command: >-\n    sh -c 'a\n    b' # one\n  for: [gate]\n\n# the names\n" + threeNames, "",
			"notify:\n- command: >-\n    sh -c 'a\n    b' # one\n  for: [gate]\n" + bell + "\n# the names\n" + threeNames},
		"in brackets":         {"notify: [{command: a},\n  {command: b}]\n" + threeNames, "", "notify:\n  - {command: \"a\"}\n  - {command: \"b\"}\n  " + bell + threeNames},
		"the first of two":    {threeNames + "notify:\n    - command: a\n      for: [gate]\n    # the other\n    - way: desktop\n", "1", threeNames + "notify:\n    # the other\n    - way: desktop\n"},
		"the last of two":     {threeNames + "notify:\n  - command: a\n  - way: ntfy https://x/y\n", "ntfy", threeNames + "notify:\n  - command: a\n"},
		"the only one":        {"notify:\n  - way: desktop # here\n" + threeNames, "desktop", "notify: []\n" + threeNames},
		"by its words":        {threeNames + "notify:\n  - way: ntfy https://x/y\n  - way: ntfy https://x/z\n", "ntfy https://x/z", threeNames + "notify:\n  - way: ntfy https://x/y\n"},
		"a line with nothing": {threeNames + "notify: null\n", "", threeNames + "notify:\n  " + bell},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			var list []Notification
			var err error
			if c.remove == "" {
				list, err = AddNotification(path, Notification{Way: "bell"})
			} else {
				_, list, err = RemoveNotification(path, c.remove)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			if got, err := Load(path); err != nil || !reflect.DeepEqual(got.Notify, list) {
				t.Errorf("%v (%v), want %v", got.Notify, err, list)
			}
		})
	}
}

// What is no way to be told, and what is ambiguous, is refused, and the file stays as it is.
func TestChangedNotificationsRefuse(t *testing.T) {
	before := threeNames + "notify:\n  - way: ntfy https://x/y\n  - way: ntfy https://x/z\n"
	for add, says := range map[string]string{
		"pager": "no way to be told", "desktop x": "no way to be told", "ntfy": "needs a URL", "ntfy file:///etc/passwd": "needs a URL", "webhook https://x/ y": "needs a URL", "ntfy https://x/y": "there already",
		"mail": "one address", "mail -oQ/tmp@x": "one address", "mail a@x, b@y": "one address", "mail Nat <nat@x>": "one address", "mail a@x\nBcc: b@y": "one address",
		"-ntfy": "names none of the notifications, or several", "-3": "names none", "-0": "names none", "-bell": "names none",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if which, remove := strings.CutPrefix(add, "-"); remove {
			_, _, err = RemoveNotification(path, which)
		} else {
			_, err = AddNotification(path, Notification{Way: add})
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", add, err, says)
		}
		if got, _ := os.ReadFile(path); string(got) != before {
			t.Errorf("%q: it is now\n%s", add, got)
		}
	}
}
