// Every way a file can be wrong: the whole message is held fast, since it is what the user sees.
#include <gtest/gtest.h>

#include "tests/data/reading.h"

namespace elias {
namespace {

struct Case {
  const char* name;
  std::string text;
  const char* message;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }
std::string case_name(const testing::TestParamInfo<Case>& test) { return test.param.name; }

class Malformed : public testing::TestWithParam<Case> {};

TEST_P(Malformed, GetsOneSentence) { EXPECT_EQ(read_error(GetParam().text), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    Any, Malformed,
    testing::Values(
        Case{"Empty", "", "f.txt: is empty: give a file with at least one line"},
        Case{"OnlyByteOrderMark", "\xef\xbb\xbf",
             "f.txt: is empty: give a file with at least one line"},
        Case{"NoFormat", "just words\n",
             "f.txt: the first line, 'just words', shows none of the known formats: mend it, or "
             "name "
             "the format with --format"},
        Case{"Utf16",
             "\xff\xfe"
             "1",
             "f.txt: is UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8"},
        Case{"HalfOfAPair", "3 4\n0:1\n\n\n",
             "f.txt: is one half of a pair (matrix): give features or texts and labels as X,Y"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Tsv, Malformed,
    testing::Values(
        Case{
            "NoTab", "1\ta\nno tab here\n",
            "f.txt:2: no TAB between labels and text in 'no tab here': write label,label<TAB>text"},
        Case{"EmptyLine", "1\ta\n\n2\tb\n",
             "f.txt:2: no TAB between labels and text in '': write label,label<TAB>text"},
        Case{
            "NameAmongIds", "1\ta\nred\tb\n",
            "f.txt:2: label 'red' is not an id (0, 1, 2, ...) as labels of this file are: mend it, "
            "or use --label-form names"},
        Case{"NegativeId", "-1\ta\n",
             "f.txt:1: label '-1' is not an id (0, 1, 2, ...) as labels of this file are: mend it, "
             "or use --label-form names"},
        Case{"IdTooLarge", "1\ta\n4000000000\tb\n",
             "f.txt:2: label id 4000000000 is too large: ids run from 0 to the number of labels - "
             "1; "
             "use --label-form names if it is a name"},
        Case{"StrayComma", "red,\ta\n", "f.txt:1: a comma ends the labels: remove it"},
        Case{"DoubleComma", "red,,blue\ta\n",
             "f.txt:1: a label is empty: remove the stray separator"},
        Case{"GradeNotANumber", "red::x\ta\n",
             "f.txt:1: the grade of label 'red::x' is not a number: write name::0.8"},
        Case{"GradeNan", "red::nan\ta\n",
             "f.txt:1: the value of label 'red' is not a finite number: mend or remove it"},
        Case{"GradeInf", "1::inf\ta\n",
             "f.txt:1: the value of label '1' is not a finite number: mend or remove it"},
        Case{"GradeNegative", "red::-1\ta\n",
             "f.txt:1: the relevance -1 of label 'red' is negative: give a number above 0"},
        Case{"InvalidUtf8", "1\ta\n1\tcaf\xe9\n",
             "f.txt:2: byte 0xe9 at position 4 of the text is not UTF-8: convert the file, for "
             "example with iconv -f LATIN1 -t UTF-8"},
        Case{"InvalidUtf8Name", "caf\xe9\ta\n",
             "f.txt:1: byte 0xe9 at position 4 of the text is not UTF-8: convert the file, for "
             "example with iconv -f LATIN1 -t UTF-8"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Sparse, Malformed,
    testing::Values(
        Case{"TooFewRows", "3 10 5\n0 1:1\n",
             "f.txt: the header promises 3 rows, the file has 1: mend the header, or copy the file "
             "again if it was cut off"},
        Case{"TooManyRows", "1 10 5\n0 1:1\n1 2:1\n",
             "f.txt:3: the header promises 1 rows, but here is another: mend the header or remove "
             "the line"},
        Case{"LabelBeyondHeader", "1 10 5\n5 1:1\n",
             "f.txt:2: label 5 is beyond the 5 labels of the header (ids start at 0): mend one of "
             "them"},
        Case{"FeatureBeyondHeader", "1 10 5\n1 10:1\n",
             "f.txt:2: feature 10 is beyond the 10 features of the header (ids start at 0): mend "
             "one "
             "of them"},
        Case{"FeatureTooLarge", "1 4294967295:1\n",
             "f.txt:1: feature id 4294967295 is too large: ids must be below 4294967295"},
        Case{"ValueNotANumber", "1 10 5\nfoo 1:bar\n",
             "f.txt:2: the labels 'foo' are not ids of 0 or more separated by commas: start a line "
             "without labels with a blank"},
        Case{
            "FeatureNotANumber", "1 10 5\n1 1:bar\n",
            "f.txt:2: '1:bar' is not id:value with an id of 0 or more and a number: mend the line"},
        Case{"NoColon", "1 10 5\n1 2\n",
             "f.txt:2: '2' is not id:value with an id of 0 or more and a number: mend the line"},
        Case{"ValueNan", "1 10 5\n1 2:nan\n",
             "f.txt:2: the value in '2:nan' is not a finite number: mend or remove it"},
        Case{"ValueInf", "1 10 5\n1 2:-inf\n",
             "f.txt:2: the value in '2:-inf' is not a finite number: mend or remove it"},
        Case{"ValueOverflow", "1 10 5\n1 2:1e39\n",
             "f.txt:2: the value in '2:1e39' is not a finite number: mend or remove it"},
        Case{"NegativeFeature", "1 10 5\n1 -2:1\n",
             "f.txt:2: '-2:1' is not id:value with an id of 0 or more and a number: mend the line"},
        Case{"NegativeLabel", "1 10 5\n-1 2:1\n",
             "f.txt:2: the labels '-1' are not ids of 0 or more separated by commas: start a line "
             "without labels with a blank"},
        Case{"GarbageBehindValue", "1 10 5\n1 2:1x\n",
             "f.txt:2: '2:1x' is not id:value with an id of 0 or more and a number: mend the line"},
        Case{"TooManyFeatures", "1 99999999999 1\n0 2:1\n",
             "f.txt: the header promises 99999999999 features, more than the 4294967295 that are "
             "supported"},
        Case{"SumTooLarge", "0 1:3e38 1:3e38\n",
             "f.txt:1: a feature that stands more than once adds up to more than a number holds: "
             "mend the line"},
        Case{"HugeHeader", "1 10 18446744073709551615\n1 2:1\n",
             "f.txt: has 18446744073709551615 labels, more than the 100000000 that are supported"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    JsonLines, Malformed,
    testing::Values(
        Case{"NotJson", "{\"text\": \"a\", \"labels\": []}\n{\"text\": \n",
             "f.txt:2: the line is not JSON from byte 10 on: write one object a line, {\"text\": "
             "\"...\", \"labels\": [...]}"},
        Case{"EmptyLine", "{\"text\": \"a\", \"labels\": []}\n\n",
             "f.txt:2: the line is not JSON from byte 1 on: write one object a line, {\"text\": "
             "\"...\", \"labels\": [...]}"},
        Case{"AList", "{\"text\": \"a\", \"labels\": []}\n[1]\n",
             "f.txt:2: the line is a list, not an object in braces: write one object a line, "
             "{\"text\": \"...\", \"labels\": [...]}"},
        Case{"ANumber", "{\"text\": \"a\", \"labels\": []}\n17\n",
             "f.txt:2: the line is not an object in braces: write one object a line, {\"text\": "
             "\"...\", \"labels\": [...]}"},
        Case{"NoLabels", "{\"text\": \"a\", \"label\": [\"x\"]}\n",
             "f.txt:1: the object has neither \"labels\" nor \"target_ind\": add one, empty if the "
             "point has no labels"},
        Case{"LabelsTwice", "{\"text\": \"a\", \"labels\": [], \"target_ind\": []}\n",
             "f.txt:1: labels are given twice: write one object a line, {\"text\": \"...\", "
             "\"labels\": [...]}"},
        Case{"NoText", "{\"labels\": [\"a\"]}\n",
             "f.txt:1: the object has no \"text\" and no \"title\": add one"},
        Case{"TextIsANumber", "{\"text\": 5}\n",
             "f.txt:1: \"text\" holds the number 5: write one object a line, {\"text\": \"...\", "
             "\"labels\": [...]}"},
        Case{"LabelIsNull", "{\"text\": \"a\", \"labels\": [null]}\n",
             "f.txt:1: \"labels\" holds null: write one object a line, {\"text\": \"...\", "
             "\"labels\": [...]}"},
        Case{
            "LabelIsNegative", "{\"text\": \"a\", \"labels\": [-3]}\n",
            "f.txt:1: \"labels\" holds the number -3: write one object a line, {\"text\": \"...\", "
            "\"labels\": [...]}"},
        Case{"LabelIsAList", "{\"text\": \"a\", \"labels\": [[1]]}\n",
             "f.txt:1: \"labels\" holds a list: write one object a line, {\"text\": \"...\", "
             "\"labels\": [...]}"},
        Case{"MixedForms", "{\"text\": \"a\", \"labels\": [\"x\", 1]}\n",
             "f.txt:1: label 1 is a number where labels are names: put it in quotes, or use "
             "--label-form ids"},
        Case{"WrongCount", "{\"text\": \"a\", \"target_ind\": [1, 2], \"target_rel\": [1]}\n",
             "f.txt:1: 2 labels but 1 values: give one for each"},
        Case{"TooLargeValue", "{\"text\": \"a\", \"target_ind\": [1], \"target_rel\": [1e39]}\n",
             "f.txt:1: the value of label '1' is not a finite number: mend or remove it"},
        Case{"InvalidUtf8", "{\"text\": \"a\xff\"}\n",
             "f.txt:1: byte 0xff at position 12 of the text is not UTF-8: convert the file, for "
             "example with iconv -f LATIN1 -t UTF-8"}),
    case_name);

TEST(MalformedWithLabels, LabelsBeyondTheLabelFile) {
  EXPECT_EQ(read_error("2\ta\n", {}, 1, label_file("red\nblue\n")),
            "f.txt:1: label 2 is beyond the 2 labels of labels.txt (ids start at 0): mend one of "
            "them");
  EXPECT_EQ(read_error("red\ta\ngreen\tb\n", {}, 1, label_file("red\nblue\n")),
            "f.txt:2: label 'green' is not in labels.txt: add it there, or mend the line");
  EXPECT_EQ(read_error("1 10 5\n1 2:1\n", {}, 1, label_file("red\nblue\n")),
            "f.txt: has 5 labels, labels.txt names 2: these do not belong together");
}

TEST(MalformedWithLabels, IdsAfterNames) {
  LabelSpace space;
  space.set_form(LabelForm::kNames);
  EXPECT_EQ(
      read_error("1 10 5\n1 2:1\n", {}, 1, space),
      "f.txt: holds label ids where the files before it hold names: say which id is which name "
      "with --labels");
}

TEST(MalformedWithLabels, AForcedFormatIsObeyed) {
  ReadOptions options;
  options.format = Format::kTsv;
  EXPECT_EQ(read_error("{\"text\": \"a\"}\n", options),
            "f.txt:1: no TAB between labels and text in '{\"text\": \"a\"}': write "
            "label,label<TAB>text");
  EXPECT_THROW(format_from_name("csv"), InputError);
}

}  // namespace
}  // namespace elias
