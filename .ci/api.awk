# A header as Doxygen reads it, line for line, so that the comments in it stay prose and are not repeated.

# What is indented stays as it is written: Markdown wants four spaces for that.
{ sub(/^ *\/\/\/   /, "&    ") }

# That a class copies, moves or ends as usual, or not at all, needs no words.
/(~[A-Za-z]*\(\)|&( other)?\))( noexcept)? = (default|delete);/ { $0 = "" }

# A comment behind several names is one for each, or has a part for each.
/^ *[A-Za-z_:<> 0-9]+ [A-Za-z_0-9]+( = [^,;]*)?(, [A-Za-z_0-9]+( = [^,;]*)?)+; +\/\/\/< / {
  split($0, half, /; +\/\/\/< /)
  count = split(half[1], name, ", ")
  match(name[1], / [A-Za-z_0-9]+( = .*)?$/)
  type = substr(name[1], 1, RSTART)
  name[1] = substr(name[1], RSTART + 1)
  parts = split(half[2], part, "; ")
  $0 = ""
  for (i = 1; i <= count; ++i) $0 = $0 "/** " (parts == count ? part[i] : half[2]) " */ " type name[i] "; "
}

# What all layers, scores, normalisers and optimisers have is said once.
!commented && !/\/\/\// {
  if (/^  [A-Za-z:]+ forward\(/) $0 = "/** What a call computes; the class says what that is. */" $0
  if (/^  void visit\(Visitor& v\)/) $0 = "/** Names the members, as the state dict does. */" $0
  if (/^  Tensor operator\(\)\(const Tensor& q, /) $0 = "/** The scores. */" $0
  if (/^  Tensor operator\(\)\(const Tensor& scores, /) $0 = "/** The weights. */" $0
  if (/^  static constexpr const char\* kName /) $0 = "/** For messages. */" $0
  if (/^  static constexpr .* kMemory /) $0 = "/** Names of the tensors in OptimizerState. */" $0
  if (/^  void check\(\) const;/) $0 = "/** Throws when they cannot be. */" $0
  if (/^  std::function<void\(\)> update\(const Tensor& p, /) $0 = "/** One step of one parameter, made ready. */" $0
}

# The comment before the namespace is that of the header, which must have one: Doxygen knows no such command.
/^\/\/\/ @file/ { headed = 1 }
/^namespace heed/ && !headed++ {
  for (first = NR; line[first - 1] ~ /^\/\/\//; --first) continue
  line[first - 1] = first < NR ? "/// @file" : "/// @file\n/// @no_comment_says_what_it_holds"
}

{
  commented = /^ *\/\/\//
  line[NR] = $0
}

END { for (i = 1; i <= NR; ++i) print line[i] }
