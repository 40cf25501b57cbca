package bench

// Bus is what "parley bench bus" measures: how fast hosts hear each other, and
// what staying in touch costs.
func Bus() Suite {
	return Suite{Name: "bus", Measures: []Measure{
		hopMeasure(), answerMeasure(), burstMeasure(), fanoutMeasure(), idleMeasure(),
	}}
}
