#include "src/report/escape.h"

#include "gtest/gtest.h"

namespace rope_bench {
namespace {

TEST(XmlEscaped, SpellsWhatXmlReserves) {
  EXPECT_EQ(xml_escaped("a & b < c > d \" e ' f"), "a &amp; b &lt; c &gt; d &quot; e ' f");
  // A reader would turn these into spaces in an attribute.
  EXPECT_EQ(xml_escaped("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
  EXPECT_EQ(xml_escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
}

TEST(XmlEscaped, ReplacesWhatXmlCannotHold) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(xml_escaped(std::string("a\0b\x1b", 4)), "a" + replaced + "b" + replaced);
  EXPECT_EQ(xml_escaped("\xef\xbf\xbe"), replaced);  // U+FFFE
  // Alone, cut short, overlong, a surrogate, beyond U+10FFFF: a mark for every byte.
  EXPECT_EQ(xml_escaped("\xff"), replaced);
  EXPECT_EQ(xml_escaped("\xe2\x82"), replaced + replaced);
  EXPECT_EQ(xml_escaped("\xc0\xaf"), replaced + replaced);
  EXPECT_EQ(xml_escaped("\xed\xa0\x80"), replaced + replaced + replaced);
  EXPECT_EQ(xml_escaped("\xf4\x90\x80\x80"), replaced + replaced + replaced + replaced);
  EXPECT_EQ(xml_escaped("\xe2("), replaced + "(");
}

TEST(MarkdownEscaped, IsOneLineWithoutMarkup) {
  EXPECT_EQ(markdown_escaped("a|b"), "a\\|b");
  EXPECT_EQ(markdown_escaped("a\nb\r\nc\rd"), "a<br>b<br>c<br>d");
  EXPECT_EQ(markdown_escaped("<b>&amp;</b>"), "\\<b\\>\\&amp;\\</b\\>");
  EXPECT_EQ(markdown_escaped("`x` *y* [z] \\ ~w~"), "\\`x\\` \\*y\\* \\[z\\] \\\\ \\~w\\~");
  // No emphasis within a word.
  EXPECT_EQ(markdown_escaped("norm_split_rope _x_"), "norm_split_rope \\_x\\_");
}

}  // namespace
}  // namespace rope_bench
