# Joins the page of attention into one C++ source, which holds it as a text:
#
#   cmake -DFOLDER=nn/view -DOUTPUT=page_template.cpp -P embed_page.cmake
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/page.js script)
string(REPLACE "<link rel=\"stylesheet\" href=\"page.css\">" "<style>\n${style}</style>" page "${page}")
string(REPLACE "<script src=\"page.js\"></script>" "<script>\n${script}</script>" page "${page}")
file(WRITE ${OUTPUT} "namespace heed {

extern const char page_template[];
const char page_template[] = R\"page(${page})page\";

}  // namespace heed
")
