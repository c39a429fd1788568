# Completion of wpsim for bash.

# Names of files with one of the endings: _wpsim_files PATTERN WORD
_wpsim_files()
{
	compgen -d -S / -- "$2"
	compgen -f -X "!*.$1" -- "$2"
}

_wpsim()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands='check annotate emit exec run calibrate compare targets explain help' options files command=''
	local formats='text json jsonl' listings='@(s|amdgcn|co|hsaco|o)' any='@(xml|s|amdgcn|co|hsaco|o)'
	local common='--output --help --usage --version' model='--target --variant --models --color' extglob

	# bash cuts words at "=": --format=json is three words.
	if [ "$cur" = = ]; then
		cur=''
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	[ "$COMP_CWORD" -gt 1 ] && case ${COMP_WORDS[1]} in
	check | annotate | emit | exec | run | calibrate | compare | targets | explain | help) command=${COMP_WORDS[1]} ;;
	esac

	case $command in
	check) formats+=' sarif' ;;
	compare) formats+=' csv' ;;
	esac
	case $prev in
	--format) mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur"); return ;;
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
	--unknown) mapfile -t COMPREPLY < <(compgen -W 'error warn' -- "$cur"); return ;;
	--order) mapfile -t COMPREPLY < <(compgen -W 'rr random' -- "$cur"); return ;;
	--backend) mapfile -t COMPREPLY < <(compgen -W 'cuda hip fake sim' -- "$cur"); return ;;
	--arg)
		mapfile -t COMPREPLY < <(compgen -W 'i32: u32: i64: u64: f16: f32: f64: buf: out: zero: rand-f16: rand-bf16: rand-f32: rand-i32:' -- "$cur")
		compopt -o nospace 2>/dev/null
		return
		;;
	--models) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	--target)
		mapfile -t COMPREPLY < <(compgen -W "$(wpsim targets 2>/dev/null | cut -d' ' -f1)" -- "$cur"; compgen -f -X '!*.xml' -- "$cur")
		return
		;;
	--variant | --clock | --kernel | --trip | --waves | --bank-conflicts | --size | --grid | --block | --dump | --seed | \
		--threads | --device | --repeat | --timeout | --tolerance) return ;;
	-o | --output | --samples | --from | --svg | --trace) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	esac

	case $command in
	'') files=xml options="--format --price --werror $model --clock --no-timeline --formulas $common" ;;
	check) files=$any options="--format --price --werror --fix --place-waits --kernel --unknown --exec --grid --block --arg --seed $model --clock $common" ;;
	annotate) files=$listings options="--format --kernel --unknown --trip --waves --bank-conflicts --exec --grid --block --arg --seed $model --clock $common" ;;
	emit) files=$any options="--listing --object --stamps --size --kernel --unknown $model $common" ;;
	exec) files=$any options="--grid --block --arg --dump --order --seed --threads --counts --size --all-workgroups --kernel $model $common" ;;
	run) files=xml options="--backend --device --repeat --timeout --samples --dry --size $model $common" ;;
	calibrate) files=xml options="--backend --device --repeat --timeout --samples --from $model $common" ;;
	compare) files=$any options="--samples --published --trace --tolerance --svg --format $model --clock $common" ;;
	targets) options="--variant --models --color $common" ;;
	explain) options=$common ;;
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
		extglob=$(shopt -p extglob)
		shopt -s extglob
		mapfile -t COMPREPLY < <(
			[ "$COMP_CWORD" = 1 ] && compgen -W "$commands" -- "$cur"
			_wpsim_files "$files" "$cur"
		)
		$extglob
		[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
		;;
	esac
}
complete -F _wpsim wpsim
