// Package spelling tells how much a name differs from another one that somebody may have meant.
package spelling

import "strings"

// Near reports whether somebody who typed `typed` may have meant `name`: it is spelled almost like
// that, or begins with it. Case does not matter.
func Near(typed, name string) bool {
	typed, name = strings.ToLower(typed), strings.ToLower(name)
	return typed != "" && (strings.HasPrefix(name, typed) || Distance(typed, name) <= 1+len(name)/3)
}

// Distance is how many letters have to be added, dropped or changed to get from `a` to `b`.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
