# Compiles sources once for each level of instructions and chooses among them when a program starts. See Note [Levels] in
# tensor/kernels/level.h.
#
#   heed_add_levels(target sources...)   adds them to the target
#
# For each level the objects are joined into one. Functions of heed::kernel, which others call, get the level behind
# their name; other inline functions become private to the level, so that nobody else runs its instructions; variables
# of inline functions stay one for all. The old names become jumps through a table, which level.cpp fills.
#
# As a script, it edits such an object, or writes the jumps:
#
#   cmake -DJOINED=o -DLEVEL=v3 -DNM=nm -DOBJCOPY=objcopy -DREADELF=readelf -P levels.cmake
#   cmake -DNAMES="v2.names v3.names v4.names" -DJUMPS=jumps.s -P levels.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(heed_add_levels target)
    set(names "")
    foreach(level v2 v3 v4)
      set(objects heed_kernels_${level})
      add_library(${objects} OBJECT ${ARGN})
      target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR})
      target_link_libraries(${objects} PRIVATE heed_compile heed_needs)
      target_compile_options(${objects} PRIVATE -march=x86-64-${level})
      target_compile_definitions(${objects} PRIVATE HEED_ONE_LEVEL)
      set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
      set(joined ${CMAKE_CURRENT_BINARY_DIR}/kernels_${level}.o)
      add_custom_command(OUTPUT ${joined} ${joined}.names VERBATIM COMMAND_EXPAND_LISTS
        COMMENT "Joining the kernels of x86-64-${level}"
        DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMAND ${HEED_LD} -r --force-group-allocation -o ${joined} $<TARGET_OBJECTS:${objects}>
        COMMAND ${CMAKE_COMMAND} -DJOINED=${joined} -DLEVEL=${level} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY}
                -DREADELF=${CMAKE_READELF} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
      set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
      target_sources(${target} PRIVATE ${joined})
      list(APPEND names ${joined}.names)
    endforeach()
    set(jumps ${CMAKE_CURRENT_BINARY_DIR}/kernel_jumps)
    add_custom_command(OUTPUT ${jumps}.o VERBATIM
      COMMENT "Writing a jump for each kernel"
      DEPENDS ${names} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMAND ${CMAKE_COMMAND} "-DNAMES=${names}" -DJUMPS=${jumps}.s -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMAND ${CMAKE_CXX_COMPILER} -c ${jumps}.s -o ${jumps}.o)
    set_source_files_properties(${jumps}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${jumps}.o)
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.25)
if(JOINED)
  execute_process(COMMAND ${READELF} --sections --wide ${JOINED} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(sections MATCHES "\\.init_array|\\.ctors")
    message(FATAL_ERROR "A kernel's source initialises a variable when the program starts, at ${LEVEL} too: "
      "let a function do it when it is needed.")
  endif()
  execute_process(COMMAND ${NM} --format=posix --defined-only --extern-only ${JOINED}
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" symbols "${symbols}")
  set(kernels "")
  set(renamed "")
  set(hidden "")
  set(shared "")
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "^(_ZNK?4heed6kernel[^ ]*) [TW] ")
      string(APPEND kernels "${CMAKE_MATCH_1}\n")
      string(APPEND renamed "${CMAKE_MATCH_1} ${CMAKE_MATCH_1}.${LEVEL}\n")
    elseif(symbol MATCHES "^([^ ]+) W " OR symbol MATCHES "^(_ZT[VITS][^ ]*) V ")
      string(APPEND hidden "${CMAKE_MATCH_1}\n")
    elseif(symbol MATCHES "^([^ ]+) [uV] ")
      string(APPEND shared "${CMAKE_MATCH_1}\n")
    endif()
  endforeach()
  file(WRITE ${JOINED}.names "${kernels}")
  file(WRITE ${JOINED}.renamed "${renamed}")
  file(WRITE ${JOINED}.hidden "${hidden}")
  file(WRITE ${JOINED}.shared "${shared}")
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${OBJCOPY} --redefine-syms=${JOINED}.renamed
    --localize-symbols=${JOINED}.hidden --weaken-symbols=${JOINED}.shared ${JOINED})
endif()

if(JUMPS)
  foreach(file IN LISTS NAMES)
    file(STRINGS ${file} names)
    if(NOT kernels)
      set(kernels ${names})
    endif()
    set(common "")
    foreach(name IN LISTS kernels)
      if(name IN_LIST names)
        list(APPEND common ${name})
      endif()
    endforeach()
    set(kernels ${common})
  endforeach()
  list(LENGTH kernels count)
  set(jumps "")
  set(offset 0)
  foreach(level v2 v3 v4)
    set(table_${level} "")
  endforeach()
  foreach(name IN LISTS kernels)
    string(APPEND jumps "  .globl ${name}\n  .type ${name}, @function\n${name}:\n  jmp *heed_kernels+${offset}(%rip)\n")
    foreach(level v2 v3 v4)
      string(APPEND table_${level} "  .quad ${name}.${level}\n")
    endforeach()
    math(EXPR offset "${offset} + 8")
  endforeach()
  set(tables "  .section .data.rel.ro, \"aw\"\n  .balign 8\n")
  foreach(level v2 v3 v4)
    string(APPEND tables "  .globl heed_kernels_${level}\n  .hidden heed_kernels_${level}\nheed_kernels_${level}:\n${table_${level}}")
  endforeach()
  file(WRITE ${JUMPS} "# Made by cmake/levels.cmake.
  .text
${jumps}
  .data
  .balign 64
  .globl heed_kernels
  .hidden heed_kernels
heed_kernels:
${table_v2}
${tables}
  .globl heed_kernel_count
  .hidden heed_kernel_count
heed_kernel_count:
  .quad ${count}
  .quad _ZN4heed6kernel5levelE
  .section .note.GNU-stack, \"\", @progbits
")
endif()
