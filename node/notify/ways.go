package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
)

// tell tells the human one line in a way of the setting notify, and returns what went wrong; "" if
// nothing did.
func tell(ctx context.Context, way, kind, line string) string {
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	var err error
	switch by, to, _ := strings.Cut(way, " "); by {
	case "desktop":
		return onDesktop(ctx, line)
	case "mail":
		return byMail(ctx, to, line)
	case "bell":
		err = ring()
	case "ntfy":
		err = post(ctx, to, "text/plain; charset=utf-8", []byte(line))
	case "webhook":
		var body []byte
		if body, err = json.Marshal(map[string]string{"kind": kind, "text": line}); err == nil {
			err = post(ctx, to, "application/json", body)
		}
	default:
		err = fmt.Errorf("%q is no way to be told", by)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// post sends a text to a URL. Errors do not quote the URL, which may let somebody in.
func post(ctx context.Context, to, form string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("that is no URL")
	}
	r.Header.Set("Content-Type", form)
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // what follows one would lose the text
	}
	answer, err := client.Do(r)
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err != nil {
		return fmt.Errorf("it was not sent: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the other side can end it
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return nil
}

// script shows the first argument of osascript.
const script = "on run argv\ndisplay notification (item 1 of argv) with title \"parley\"\nend run"

func onDesktop(ctx context.Context, line string) string {
	program, argv := "notify-send", []string{"--app-name=parley", "--", "parley", literal.Replace(line)}
	if runtime.GOOS == "darwin" {
		program, argv = "osascript", []string{"-e", script, line}
	}
	if _, err := exec.LookPath(program); err != nil {
		return program + " is not in the PATH of the node: install it (Linux: libnotify-bin or libnotify), or use bell"
	}
	return started(ctx, append([]string{program}, argv...), nil)
}

// literal has notify-send show a text as it is: it knows a few tags of HTML, and escapes.
var literal = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`)

// byMail gives a mail to the mail system of this machine.
func byMail(ctx context.Context, to, line string) string {
	for _, program := range []string{"sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail"} {
		if _, err := exec.LookPath(program); err == nil {
			subject := strings.ReplaceAll(mime.QEncoding.Encode("utf-8", line), "\r\n", "\n")
			mail := "To: " + to + "\nSubject: " + subject + "\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n" + line + "\n"
			return started(ctx, []string{program, "-i", to}, []byte(mail))
		}
	}
	return "no sendmail is on this machine: install a mail system that has one (msmtp-mta, postfix), or use ntfy"
}
