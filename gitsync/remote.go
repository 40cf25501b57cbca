package gitsync

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// redact shows a remote without its password.
func redact(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			return u.Redacted()
		}
	}
	return remote
}

// cleanRemote checks what names the shared repository; a path becomes absolute.
func cleanRemote(remote string) (string, error) {
	helper := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)
	switch {
	case remote == "":
		return "", nil
	case strings.HasPrefix(remote, "-"), helper.MatchString(remote), strings.ContainsFunc(remote, unicode.IsControl):
		return "", fmt.Errorf("%q cannot name the shared repository: give a URL or a path", remote)
	case !isLocalPath(remote):
		return remote, nil
	}
	path, err := filepath.Abs(remote)
	if err != nil {
		return "", fmt.Errorf("cannot find the shared repository: %w", err)
	}
	return path, nil
}

// isLocalPath tells a path from a URL and from host:path, as git does.
func isLocalPath(remote string) bool {
	if strings.Contains(remote, "://") {
		return false
	}
	if filepath.VolumeName(remote) != "" {
		return true
	}
	colon := strings.IndexByte(remote, ':')
	slash := strings.IndexByte(remote, '/')
	return colon < 0 || slash >= 0 && slash < colon
}

// localRemote is the folder of a remote that is on this machine, or "".
func localRemote(remote string) string {
	if path, ok := strings.CutPrefix(remote, "file://"); ok {
		return path
	}
	if remote != "" && isLocalPath(remote) {
		return remote
	}
	return ""
}
