package bench

import "strings"

// On says to which number of a figure its aim applies.
type On string

// The two numbers to which an aim can apply.
const (
	OnValue On = "value"
	OnRatio On = "ratio"
)

// Better says which way a figure should go.
type Better string

// The two ways.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Figure is one measured value beside its yardstick. In JSON every field is present. A value that
// does not exist is null or "".
type Figure struct {
	Name      string   `json:"name"`      // a stable word
	Value     *float64 `json:"value"`     // null if it could not be measured; then Note says why
	Unit      string   `json:"unit"`      // unit of value, yardstick and, if aim_on is value, aim
	Yardstick *float64 `json:"yardstick"` // in the same unit
	Ratio     *float64 `json:"ratio"`     // value divided by yardstick
	Aim       *float64 `json:"aim"`       // what it should be
	AimOn     On       `json:"aim_on"`    // to which number the aim applies
	Better    Better   `json:"better"`    // which way it should go
	OK        *bool    `json:"ok"`        // whether the aim is met; null if there is no aim, or if this run cannot tell

	What   string `json:"what"`   // what was measured
	Beside string `json:"beside"` // what the yardstick is
	Note   string `json:"note"`   // what a reader must know of this run
}

// Spec is what is known of a figure before it is measured.
type Spec struct {
	Name, Unit, What string
	Beside           string // what the yardstick is; "" for none
	Better           Better
	Aim              float64
	AimOn            On   // "" if there is no aim
	Full             bool // only a full run can tell whether the aim is met
}

// reading is what a measure has measured for one figure.
type reading struct {
	value     float64
	yardstick float64 // 0: none
	note      string
}

// readings are readings by the name of their figure.
type readings map[string]reading

// figure is the figure with what was measured. `full` says that this was a full run.
func (s Spec) figure(r reading, full bool) Figure {
	f := s.missing(r.note)
	f.Value = &r.value
	if r.yardstick != 0 {
		ratio := r.value / r.yardstick
		f.Yardstick, f.Ratio = &r.yardstick, &ratio
	}
	f.judge()
	if s.Full && !full && f.OK != nil {
		f.OK, f.Note = nil, strings.Trim("a quick run cannot tell; "+f.Note, "; ")
	}
	return f
}

// missing is the figure without a value.
func (s Spec) missing(why string) Figure {
	f := Figure{Name: s.Name, Unit: s.Unit, AimOn: s.AimOn, Better: s.Better, What: s.What, Beside: s.Beside, Note: why}
	if s.AimOn != "" {
		aim := s.Aim
		f.Aim = &aim
	}
	return f
}

func (f *Figure) judge() {
	got := f.Value
	if f.AimOn == OnRatio {
		got = f.Ratio
	}
	if f.Aim == nil || got == nil {
		return
	}
	ok := *got <= *f.Aim
	if f.Better == Higher {
		ok = *got >= *f.Aim
	}
	f.OK = &ok
}

// Missed are the names of the figures that miss their aim.
func Missed(figures []Figure) []string {
	var names []string
	for _, f := range figures {
		if f.OK != nil && !*f.OK {
			names = append(names, f.Name)
		}
	}
	return names
}
