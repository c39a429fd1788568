#!/usr/bin/env bash
# Every instruction that a target file names must be one that the LLVM assembler of the same
# release accepts for that target, with the register counts of its row.
set -u
top=${top_srcdir:-$(dirname "$(dirname "$(dirname "$0")")")}
models=$top/models
mc=${LLVM_MC:-llvm-mc-22}

if ! command -v "$mc" >/dev/null 2>&1; then
	echo "skipped: $mc is not installed"
	exit 77
fi
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

# Assembly text of every row of one file, one instruction a line, each after its place.
rows() {
	awk -v cpu="$2" '
	function attr(name,   s) {
		if (!match($0, " " name "=\"[^\"]*\""))
			return ""
		s = substr($0, RSTART, RLENGTH)
		sub(/^[^"]*"/, "", s)
		sub(/"$/, "", s)
		return s
	}
	# n registers from an even first one
	function regs(first, n) {
		return n == 1 ? "v" first : "v[" first ":" first + n - 1 "]"
	}
	function matrix(op,   a, b, c, s, kind, fmt) {
		kind = attr("kind")
		a = attr("a-regs"); b = attr("b-regs"); c = attr("c-regs")
		s = op " " regs(0, op ~ /^v_wmma_bf16f32/ ? c / 2 : c) ", " regs(64, a) ", " regs(96, b)
		if (kind == "smfmac")
			return s ", v128"
		if (kind == "swmmac")
			return s ", " regs(128, op ~ /16x16x128/ ? 2 : 1)
		s = s ", " regs(0, c)
		if (kind == "mfma-scale")
			s = s ", v128, v129"
		if (kind == "wmma-scale")
			s = s ", " (op ~ /scale16/ ? "v[128:129], v[130:131]" : "v128, v130")
		if (op ~ /f8f6f4/ && op ~ /^v_mfma/ && a == 6)
			s = s " cbsz:2 blgp:2"
		if (op ~ /f8f6f4/ && op ~ /^v_wmma/ && a == 12)
			s = s " matrix_a_fmt:MATRIX_FMT_FP6 matrix_b_fmt:MATRIX_FMT_FP6"
		if (op ~ /f8f6f4/ && op ~ /^v_wmma/ && a == 8)
			s = s " matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4"
		return s
	}
	function lds(op,   n, two) {
		n = attr("width") + 0 > 4 ? attr("width") / 4 : 1
		two = op ~ /^ds_(read2|write2|load_2addr|store_2addr)/
		if (op ~ /swizzle/)
			return op " v0, v2"
		if (op ~ /permute/)
			return op " v0, v2, v3"
		if (attr("dir") == "read")
			return op " " regs(4, two ? 2 * n : n) ", v2" (two ? " offset0:0 offset1:1" : "")
		if (two)
			return op " v2, " regs(4, n) ", " regs(8, n) " offset0:0 offset1:1"
		return op " v2, " regs(4, n)
	}
	function vmem(op,   n, d) {
		n = attr("width") + 0 > 4 ? attr("width") / 4 : 1
		d = regs(4, n)
		if (op ~ /^buffer.* lds$/) {
			sub(/ lds$/, "", op)
			return op " v2, s[8:11], 0 offen lds"
		}
		if (op ~ /^buffer/)
			return op " " d ", v2, s[8:11], " (cpu ~ /^gfx12/ ? "null" : "0") " offen"
		if (op ~ /async_to_lds|async_from_lds/)
			return op ~ /store/ ? op " v[2:3], v4, off" : op " v4, v[2:3], off"
		if (op ~ /^global_load_lds/)
			return op " v[2:3], off"
		if (op ~ /^flat/)
			return op (op ~ /store/ ? " v[2:3], " d : " " d ", v[2:3]")
		return op (op ~ /store/ ? " v[2:3], " d ", off" : " " d ", v[2:3], off")
	}
	/^ *<(matrix|lds|vmem) / {
		op = attr("op")
		if (/<matrix/) s = matrix(op)
		else if (/<lds/) s = lds(op)
		else s = vmem(op)
		print s " ; line " FNR
	}' "$1"
}

status=0
for file in "$models"/gfx*.xml; do
	cpu=$(basename "$file" .xml)
	rows "$file" "$cpu" >"$tmp/in.s"
	n=$(wc -l <"$tmp/in.s")
	if [ "$n" -lt 50 ]; then
		echo "$file: only $n instructions found"
		status=1
	fi
	if ! "$mc" -triple=amdgcn-amd-amdhsa -mcpu="$cpu" -filetype=null "$tmp/in.s" 2>"$tmp/err"; then
		echo "$file: the assembler rejects:"
		grep -A1 'error:' "$tmp/err"
		status=1
	fi
	echo "$cpu: $n instructions"
done
exit $status
