#!/bin/sh
# What agents of the inquiries of a bench answer, at once. The folder that $1 names has the
# answers of who coordinates; a member leaves a file there when it is started.
asked=$(cat)
case $asked in
*"infer the mission brief"*) call=brief ;;
*"gather the context"*) call=context ;;
*"propose perspectives"*) call=proposals ;;
*"sum up each result"*) call=preview ;;
*"find where results are in tension"*) call=detection ;;
*"say what came of each dialogue"*) call=outcomes ;;
*"join what the perspectives found"*) call=synthesis ;;
*"word the three ways"*) call=route ;;
*"ask one peer one targeted question"*) echo 'What is a night worth?'; exit ;;
*"This is message"*) echo 'Four nights.'; exit ;;
*"Report in four sections"*)
	printf '## Final position\nKeep it.\n## Agreement points\nFour nights.\n## Remaining divergence\nTheir worth.\n## Rationale\nstores/2.md\n'
	exit ;;
*"One question more"*) echo 'Three hours; see stores/2.md.'; exit ;;
*"You are an expert in "*)
	p=${asked#*You are an expert in }
	p=${p%%.*}
	: >"$1/started-$p"
	printf '## Epistemic Contribution\nAs %s.\n\n## Framework Analysis\nSee stores/2.md.\n\n## Horizon Limits\nNot the nights.\n\n## Assessment\nKeep %s; see stores/2.md.\n' "$p" "$p"
	exit ;;
*) exit 1 ;;
esac
while IFS= read -r line; do printf '%s\n' "$line"; done <"$1/$call"
