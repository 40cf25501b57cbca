package arch

// Limit is a ratchet for the size of one room: its lines may only fall.
type Limit struct {
	// Room is a folder with all below it, without the rooms in it that have a limit of their own.
	Room string
	// Lines is how many lines its production files may have. Whoever makes a room smaller by more
	// than [slack] lowers this. Whoever raises it says why in the same commit.
	Lines int
}

// slack is how many lines a room may be below its limit before the limit must follow.
const slack = 150

// limits is how large the rooms of parley are.
func limits() []Limit {
	return []Limit{
		{"bus", 5601},
		{"cmd", 32676},
		{"configs", 3759},
		{"fleet", 18918},
		{"gitsync", 18347},
		{"internal", 8849},
		{"internal/testkit", 3507},
		{"node", 47369},
		{"node/control", 5094},
		{"protocol", 8877},
	}
}
