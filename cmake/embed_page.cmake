# Joins a page, its styles and its script into one C++ source, which holds them as a text:
#
#   cmake -DFOLDER=nn/view -DNAME=page -DOUTPUT=page_template.cpp -P embed_page.cmake
file(READ ${FOLDER}/${NAME}.html page)
foreach(look look ${NAME})
  file(READ ${FOLDER}/${look}.css style)
  string(REPLACE "<link rel=\"stylesheet\" href=\"${look}.css\">" "<style>\n${style}</style>" page "${page}")
endforeach()
file(READ ${FOLDER}/${NAME}.js script)
string(REPLACE "<script src=\"${NAME}.js\"></script>" "<script>\n${script}</script>" page "${page}")
file(WRITE ${OUTPUT} "namespace heed {

extern const char ${NAME}_template[];
const char ${NAME}_template[] = R\"page(${page})page\";

}  // namespace heed
")
