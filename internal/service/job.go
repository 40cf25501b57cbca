package service

import (
	"encoding/xml"
	"strings"
)

// job is the property list for launchd.
func (s Service) job() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by parley install service, which takes it away again with the flag undo. -->
<plist version="1.0">
<dict>
`)
	text := func(indent, value string) {
		b.WriteString(indent + "<string>")
		_ = xml.EscapeText(&b, []byte(value)) // a builder takes everything
		b.WriteString("</string>\n")
	}
	key := func(name string) { b.WriteString("\t<key>" + name + "</key>\n") }
	key("Label")
	text("\t", s.label())
	if s.User != "" {
		key("UserName")
		text("\t", s.User)
	}
	key("ProgramArguments")
	b.WriteString("\t<array>\n")
	for _, one := range append(append([]string{}, s.Argv...), "up", "--background") {
		text("\t\t", one)
	}
	b.WriteString("\t</array>\n")
	key("EnvironmentVariables")
	b.WriteString("\t<dict>\n\t\t<key>PATH</key>\n")
	text("\t\t", s.Path)
	b.WriteString("\t</dict>\n")
	key("RunAtLoad")
	b.WriteString("\t<true/>\n")
	key("KeepAlive") // after a failure, not after parley stop
	b.WriteString("\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n")
	key("ExitTimeOut")
	b.WriteString("\t<integer>30</integer>\n")
	key("StandardErrorPath")
	text("\t", s.Log)
	b.WriteString("</dict>\n</plist>\n")
	return b.String()
}
