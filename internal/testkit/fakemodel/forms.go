package fakemodel

import (
	"encoding/json"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
)

// object is a JSON object.
type object = map[string]any

// event is one event of a stream.
type event struct {
	name string
	data object
}

// request has the fields of both forms that the model looks at.
type request struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"` // of a namespace
	} `json:"tools"`
	// Of Messages.
	System   any    `json:"system"`
	Messages []item `json:"messages"`
	// Of Responses.
	Instructions string `json:"instructions"`
	Input        input  `json:"input"`
}

// item is a message, or what a tool was asked or returned.
type item struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content any    `json:"content"`
	Output  any    `json:"output"`
}

// input is a list of items, or one text.
type input []item

func (i *input) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*i = input{{Role: "user", Content: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]item)(i))
}

// texts returns all texts of a content, without those of parts with a type that is left out.
func texts(content any, without string) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var all []string
		for _, part := range c {
			if text := texts(part, without); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, "\n")
	case object:
		if text, ok := c["text"].(string); ok {
			return text
		}
		if c["type"] != without {
			return texts(c["content"], without)
		}
	}
	return ""
}

// only returns the parts of a content that have a type.
func only(content any, kind string) (found []any) {
	parts, _ := content.([]any) // a text has no parts
	for _, part := range parts {
		if p, ok := part.(object); ok && p["type"] == kind {
			found = append(found, part)
		}
	}
	return found
}

// messages is Anthropic's Messages.
var messages = form{
	read: func(r request) (s shown) {
		for _, t := range r.Tools {
			s.tools = append(s.tools, tool{name: t.Name})
		}
		all := []string{texts(r.System, "")}
		for _, m := range r.Messages {
			all = append(all, texts(m.Content, ""))
			if m.Role == "assistant" {
				s.said, s.returned = "", ""
				continue
			}
			const result = "tool_result"
			s.said += texts(m.Content, result) + "\n"
			s.returned += texts(only(m.Content, result), "")
		}
		s.all = strings.Join(all, "\n")
		return s
	},
	write: func(id string, r request, a answer) (object, []event) {
		block, whole, stop := object{"type": "text", "text": ""}, object{"type": "text", "text": a.text}, "end_turn"
		delta := object{"type": "text_delta", "text": a.text}
		if a.call != nil {
			block, stop = object{"type": "tool_use", "id": "toolu_" + id, "name": a.call.name, "input": object{}}, "tool_use"
			whole = object{"type": "tool_use", "id": "toolu_" + id, "name": a.call.name, "input": json.RawMessage(a.args)}
			delta = object{"type": "input_json_delta", "partial_json": a.args}
		}
		usage := object{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
		message := func(content []object, stop any) object {
			return object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": r.Model, "content": content,
				"stop_reason": stop, "stop_sequence": nil, "usage": usage}
		}
		return message([]object{whole}, stop), typed(
			object{"type": "message_start", "message": message([]object{}, nil)},
			object{"type": "content_block_start", "index": 0, "content_block": block},
			object{"type": "content_block_delta", "index": 0, "delta": delta},
			object{"type": "content_block_stop", "index": 0},
			object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
			object{"type": "message_stop"},
		)
	},
}

// responses is OpenAI's Responses.
var responses = form{
	read: func(r request) (s shown) {
		for _, t := range r.Tools {
			if t.Type == "namespace" {
				for _, inner := range t.Tools {
					s.tools = append(s.tools, tool{name: inner.Name, space: t.Name})
				}
			} else if t.Name != "" {
				s.tools = append(s.tools, tool{name: t.Name})
			}
		}
		all := []string{r.Instructions}
		for _, i := range r.Input {
			all = append(all, texts(i.Content, ""), texts(i.Output, ""))
			switch {
			case i.Role == "assistant", strings.HasSuffix(i.Type, "_call"), i.Type == "reasoning":
				s.said, s.returned = "", ""
			case strings.HasSuffix(i.Type, "_call_output"):
				s.returned += texts(i.Output, "")
			default:
				s.said += texts(i.Content, "") + "\n"
			}
		}
		s.all = strings.Join(all, "\n")
		return s
	},
	write: func(id string, r request, a answer) (object, []event) {
		item := object{"type": "message", "id": "item_" + id, "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.text, "annotations": []object{}}}}
		begun := object{"type": "message", "id": "item_" + id, "role": "assistant", "status": "in_progress", "content": []object{}}
		if a.call != nil {
			item = object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": a.call.name, "arguments": a.args, "status": "completed"}
			begun = object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": a.call.name, "arguments": "", "status": "in_progress"}
			if a.call.space != "" {
				item["namespace"], begun["namespace"] = a.call.space, a.call.space
			}
		}
		response := func(status string, output []object) object {
			return object{"id": "resp_" + id, "object": "response", "status": status, "model": r.Model, "output": output, "usage": object{
				"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0},
				"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15}}
		}
		whole := response("completed", []object{item})
		steps := []object{
			{"type": "response.created", "response": response("in_progress", []object{})},
			{"type": "response.output_item.added", "output_index": 0, "item": begun},
		}
		if a.call == nil {
			steps = append(steps, object{"type": "response.output_text.delta", "item_id": "item_" + id, "output_index": 0, "content_index": 0, "delta": a.text})
		}
		steps = append(steps,
			object{"type": "response.output_item.done", "output_index": 0, "item": item},
			object{"type": "response.completed", "response": whole})
		for i := range steps {
			steps[i]["sequence_number"] = i
		}
		return whole, typed(steps...)
	},
}

// typed makes events of their data, which says what type they have.
func typed(steps ...object) (events []event) {
	return each.Of(steps, func(step object) event { return event{step["type"].(string), step} })
}
