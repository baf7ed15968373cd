# mlaforge_add_kernels(TARGET CONFIG FILE... [NAME NAME] [COMPILER PROGRAM] [SHARED]): kernels as a library of a build.
#
# TARGET is a static library (with SHARED a shared one, for languages that load libraries at run time) that holds the
# dispatch table and all code objects of the configs. mlaforge_kernels_NAME() of mlaforge_kernels_NAME.h hands them out,
# NAME being the target's name where it is not given.
#
# Generator and HIP compiler run when the target is built, and again when a config, the generator or the compiler has
# changed. COMPILER is hipcc or clang++, a name or a path; without it the generator looks for one, as `mlaforge doctor`
# says. A config that cannot be used fails the build with the generator's message.
function(mlaforge_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED" "NAME;COMPILER" "CONFIG")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_CONFIG)
    message(FATAL_ERROR "mlaforge_add_kernels(${target}): usage: mlaforge_add_kernels(TARGET CONFIG FILE... [NAME NAME] "
      "[COMPILER PROGRAM] [SHARED]); not understood: \"${arg_UNPARSED_ARGUMENTS}\", without a value: "
      "\"${arg_KEYWORDS_MISSING_VALUES}\"")
  endif()
  if(NOT TARGET mlaforge::mlaforge)
    message(FATAL_ERROR "mlaforge_add_kernels(${target}): this installation of mlaforge has no generator; install its "
      "component `generator`, or add_subdirectory a kernel set that was generated elsewhere")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  if(NOT arg_NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "mlaforge_add_kernels(${target}): NAME \"${arg_NAME}\" becomes part of a C symbol; allowed: lower "
      "case, digits and underscores, a letter first")
  endif()
  foreach(file IN LISTS arg_CONFIG)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND configs ${file})
    list(APPEND config_options --config ${file})
  endforeach()

  # A compiler that is replaced by another under its old name makes other code objects.
  if(arg_COMPILER)
    set(compiler_options --compiler ${arg_COMPILER})
    set(candidates ${arg_COMPILER})
  else()
    set(compiler_options)
    set(candidates $ENV{MLAFORGE_COMPILER} hipcc clang++-22)
  endif()
  set(compilers)
  foreach(candidate IN LISTS candidates)
    find_program(found ${candidate} NO_CACHE)
    if(found)
      list(APPEND compilers ${found})
    endif()
    unset(found)
  endforeach()

  # The generator leaves files alone that are right already; the outputs' times say when it ran.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  set(table ${folder}/sources/dispatch_table.cpp)
  set(objects ${folder}/code_objects)
  add_custom_command(
    OUTPUT ${table}
    BYPRODUCTS ${folder}/sources/mlaforge_kernels_${arg_NAME}.h
    COMMAND mlaforge::mlaforge generate ${config_options} --name ${arg_NAME} --out ${folder}/sources
    COMMAND ${CMAKE_COMMAND} -E touch ${table}
    DEPENDS ${configs} $<TARGET_FILE:mlaforge::mlaforge>
    COMMENT "Generating the kernels of ${target}"
    VERBATIM)
  add_custom_command(
    OUTPUT ${objects}/manifest.json
    COMMAND mlaforge::mlaforge compile --kernels ${folder}/sources --out ${objects} ${compiler_options}
    COMMAND ${CMAKE_COMMAND} -E touch ${objects}/manifest.json
    DEPENDS ${table} ${compilers}
    COMMENT "Compiling the kernels of ${target}"
    VERBATIM)

  if(arg_SHARED)
    add_library(${target} SHARED ${table})
  else()
    add_library(${target} STATIC ${table})
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS ${objects}/manifest.json)
  target_compile_definitions(${target} PRIVATE MLAFORGE_CODE_OBJECT_FOLDER="${objects}")
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}/sources>
    $<TARGET_PROPERTY:mlaforge::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()
