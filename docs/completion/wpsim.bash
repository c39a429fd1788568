# Completion of wpsim for bash.
_wpsim()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands='check annotate emit targets explain help' options command=''

	# bash cuts words at "=": --format=json is three words.
	if [ "$cur" = = ]; then
		cur=''
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	[ "$COMP_CWORD" -gt 1 ] && case ${COMP_WORDS[1]} in
	check | annotate | emit | targets | explain | help) command=${COMP_WORDS[1]} ;;
	esac

	case $prev in
	--format) mapfile -t COMPREPLY < <(compgen -W "text json jsonl${command:+ sarif}" -- "$cur"); return ;;
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
	--unknown) mapfile -t COMPREPLY < <(compgen -W 'error warn' -- "$cur"); return ;;
	--models) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	--target) mapfile -t COMPREPLY < <(compgen -W "$(wpsim targets 2>/dev/null | cut -d' ' -f1)" -- "$cur"; compgen -f -X '!*.xml' -- "$cur"); return ;;
	--variant | --clock | --kernel | --trip | --waves | --bank-conflicts) return ;;
	-o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	esac

	case $command in
	'') options='--format --price --werror --target --variant --clock --no-timeline --formulas --models --color --output --help --usage --version' ;;
	check) options='--format --price --werror --fix --place-waits --kernel --unknown --target --variant --clock --models --color --output --help --usage --version' ;;
	annotate) options='--format --kernel --unknown --trip --waves --bank-conflicts --target --variant --clock --models --color --output --help --usage --version' ;;
	emit) options='--listing --kernel --unknown --target --variant --models --color --output --help --usage --version' ;;
	targets) options='--variant --models --color --output --help --usage --version' ;;
	explain) options='--output --help --usage --version' ;;
	help) options='--help --usage --version' ;;
	esac

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	case $command in
	targets) mapfile -t COMPREPLY < <(compgen -W "$(wpsim targets 2>/dev/null | cut -d' ' -f1)" -- "$cur"; compgen -f -X '!*.xml' -- "$cur") ;;
	explain) mapfile -t COMPREPLY < <(compgen -W "$(wpsim explain 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
	help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur") ;;
	*)
		mapfile -t COMPREPLY < <(
			[ "$COMP_CWORD" = 1 ] && compgen -W "$commands" -- "$cur"
			compgen -d -S / -- "$cur"
			compgen -f -X '!*.xml' -- "$cur"
			[ -n "$command" ] && compgen -f -X '!*.s' -- "$cur"
		)
		[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
		;;
	esac
}
complete -F _wpsim wpsim
