// Package each makes one list of another.
package each

import "slices"

// Of is what a function makes of each element of a list.
func Of[T, U any](list []T, makes func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = makes(one)
	}
	return all
}

// Find is the first value of a list for which `is` returns true; nil if there is none.
func Find[T any](list []*T, is func(*T) bool) *T {
	for _, v := range list {
		if is(v) {
			return v
		}
	}
	return nil
}

// Count is how many values of a list `is` returns true for.
func Count[T any](list []T, is func(T) bool) (n int) {
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

// Only is a new list of the values of a list for which `is` returns true.
func Only[T any](list []T, is func(T) bool) []T {
	return Except(list, func(v T) bool { return !is(v) })
}

// Except is a new list of those for which it returns false.
func Except[T any](list []T, is func(T) bool) []T { return slices.DeleteFunc(slices.Clone(list), is) }
