# Sets XTAPE_PAGE_TEXTS: the C++ file with the texts of the page, made anew when one of them changes.
set(page ${PROJECT_SOURCE_DIR}/inspect/report/web)
set(XTAPE_PAGE_TEXTS ${PROJECT_BINARY_DIR}/page_texts.cpp)
# In the order in which they stand in the page.
set(page_scripts format decode colors axis tooltip marks lines heatmap lags attention table report compare main)
list(TRANSFORM page_scripts PREPEND ${page}/)
list(TRANSFORM page_scripts APPEND .js)
string(REPLACE ";" "+" joined "${page_scripts}")
set(files "frame=${page}/frame.html,style=${page}/style.css,script=${joined},chart_js=${XTAPE_CHART_JS}")
add_custom_command(
  OUTPUT ${XTAPE_PAGE_TEXTS}
  COMMAND ${CMAKE_COMMAND} -DOUT=${XTAPE_PAGE_TEXTS} -DFILES=${files} -P ${PROJECT_SOURCE_DIR}/inspect/report/embed.cmake
  DEPENDS ${page}/frame.html ${page}/style.css ${page_scripts} ${XTAPE_CHART_JS}
          ${PROJECT_SOURCE_DIR}/inspect/report/embed.cmake
  VERBATIM)
