# Writes a C++ source that holds the device file INPUT as a string.
file(READ ${INPUT} content)
file(WRITE ${OUTPUT} "#include \"simulator/timing/mi355x_text.h\"\n\nnamespace mlaforge::simulator::timing {\n\nstd::string_view mi355x_text() {\n  return R\"mlaforge(${content})mlaforge\";\n}\n\n}  // namespace mlaforge::simulator::timing\n")
