# Writes a C++ source that holds FILES as raw string literals, by their path below ROOT.
set(text "#include \"generator/embedded.h\"\n\nnamespace mlaforge {\nnamespace {\n\nconstexpr EmbeddedFile kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content)
  string(APPEND text "    {\"${name}\", R\"mlaforge_file(${content})mlaforge_file\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace mlaforge\n")
file(WRITE ${OUTPUT} "${text}")
