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
	key := func(name string) { b.WriteString("\t<key>" + name + "</key>\n") }
	key("Label")
	b.WriteString("\t" + element(s.label()))
	if s.User != "" {
		key("UserName")
		b.WriteString("\t" + element(s.User))
	}
	key("ProgramArguments")
	b.WriteString("\t<array>\n")
	for _, one := range append(append([]string{}, s.Argv...), "up", "--background") {
		b.WriteString(item(one))
	}
	b.WriteString("\t</array>\n")
	key("EnvironmentVariables")
	b.WriteString("\t<dict>\n\t\t<key>PATH</key>\n")
	b.WriteString(item(s.Path))
	b.WriteString("\t</dict>\n")
	key("RunAtLoad")
	b.WriteString("\t<true/>\n")
	key("KeepAlive") // after a failure, not after parley stop
	b.WriteString("\t<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>\n")
	key("ExitTimeOut")
	b.WriteString("\t<integer>30</integer>\n")
	key("StandardErrorPath")
	b.WriteString("\t" + element(s.Log))
	b.WriteString("</dict>\n</plist>\n")
	return b.String()
}

// element is a text in a property list, and item is one below a list of words or names.
func element(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return "<string>" + b.String() + "</string>\n"
}

func item(text string) string { return "\t\t" + element(text) }
