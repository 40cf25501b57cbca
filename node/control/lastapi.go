package control

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// lastAPI is the API before this one. Commands that speak it are answered for one release: what
// they call by another name stands in an answer under both names, and in a request under theirs.
const lastAPI = API - 1

var lastNames = map[string]string{
	"accept_brief": "acceptBrief", "anchor_url": "anchorUrl", "answer_by": "answerBy", "asked_mode": "askedMode", "decided_by": "decidedBy", "has_key": "hasKey",
	"human_key": "humanKey", "last_activity": "lastActivity", "last_sync": "lastSync", "no_key": "noKey", "none_proposed": "noneProposed", "out_of_sync": "outOfSync",
	"question_hash": "questionHash", "state_text": "stateText", "sync_due": "syncDue", "takes_back": "takesBack", "tension_with": "tensionWith", "tier": "lambdaTier",
}

// fromLast is a request of the last API in the names of this one. What is no JSON stays as it is.
func fromLast(body []byte) []byte {
	return eachObject(body, func(object map[string]any, name, last string) {
		if value, ok := object[last]; ok {
			object[name] = value
			delete(object, last)
		}
	})
}

// lastWriter writes answers with the names of the last API beside those of this one.
type lastWriter struct{ http.ResponseWriter }

// Write writes one answer.
func (w lastWriter) Write(answer []byte) (int, error) {
	_, err := w.ResponseWriter.Write(eachObject(answer, func(object map[string]any, name, last string) {
		if value, ok := object[name]; ok {
			object[last] = value
		}
	}))
	return len(answer), err
}

// Unwrap lets answers be sent at once.
func (w lastWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// eachObject calls `change` with every object in a value of JSON and each name that has changed.
func eachObject(data []byte, change func(object map[string]any, name, last string)) []byte {
	var value any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return data
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				visit(one)
			}
		case map[string]any:
			for _, one := range v {
				visit(one)
			}
			for name, last := range lastNames {
				change(v, name, last)
			}
		}
	}
	visit(value)
	var changed bytes.Buffer
	if WriteJSON(&changed, &value) != nil {
		return data
	}
	return changed.Bytes()
}
