#include "train/predict/input_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "support/expectations.h"
#include "temp_folder.h"

// Rows to predict from, read as the table of the run was.
namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using Cells = std::map<std::string, std::string>;

GuideColumn number(const std::string& name, std::size_t place) {
    GuideColumn column{.name = name, .offset = place};
    column.place = place;
    column.usual_number = 2.5;
    return column;
}

class InputRows : public testing::Test {
protected:
    InputRows() {
        // A table of length, colour, target and depth.
        guide_.columns = {number("length", 0), number("colour", 1), number("depth", 3)};
        guide_.columns[1].categories = {"-", "blue", "red"};
        guide_.columns[1].form.categorical = true;
        guide_.columns[1].usual_number.reset();
        guide_.columns[1].usual_category = "blue";
        guide_.columns[2].form = {.unit = "%", .commas = true, .other_missing = {"n.a."}};
        guide_.table_columns = 4;
        guide_.target_place = 2;
        missing("mean");
        config_.kind = "csv";
    }
    void missing(const std::string& mode) { config_.options["missing"] = mode; }
    InputTable read(const std::string& text) {
        return read_input_rows(folder_.write("t.csv", text), guide_, config_);
    }
    std::string refused(const std::string& text) {
        return message_of(ErrorCode::data, [&] { read(text); });
    }
    static std::vector<std::string> problems(const InputTable& table) {
        std::vector<std::string> out;
        for (const InputRow& row : table.rows) {
            if (!row.problem.empty())
                out.push_back(std::to_string(row.line) + ": " + row.problem.str());
        }
        return out;
    }

    test_support::TempFolder folder_;
    InputGuide guide_;
    DatasetConfig config_;
};

TEST_F(InputRows, AreNamedByTheFirstRow) {
    const InputTable table =
        read("Report\n\nextra;depth; colour ;length\nx;5 %;red;1.5\n\n;6;-;+2\n");
    ASSERT_THAT(table.rows, SizeIs(2));
    EXPECT_THAT(table.rows[0].cells,
                ElementsAre(Pair("colour", "red"), Pair("depth", "5"), Pair("length", "1.5")));
    EXPECT_THAT(table.rows[1].cells,
                ElementsAre(Pair("colour", "-"), Pair("depth", "6"), Pair("length", "2")));
    EXPECT_EQ(table.rows[1].line, 6);
    EXPECT_THAT(problems(table), IsEmpty());
}

TEST_F(InputRows, AMissingMisspeltOrDoubledColumnIsNamed) {
    EXPECT_THAT(refused("length,colour\n1,red\n"),
                HasSubstr("t.csv: columns of the model are missing: \"depth\""));
    EXPECT_THAT(refused("length,color,depth\n1,red,5\n"), HasSubstr("missing: \"colour\""));
    EXPECT_THAT(refused("Length,colour,Depth\n1,red,5\n"),
                HasSubstr("missing: \"length\", \"depth\""));
    EXPECT_THAT(refused("length,colour,depth,length\n1,red,5,2\n"),
                HasSubstr("t.csv: two columns are named \"length\""));
    EXPECT_THAT(refused("a,b,c\nx,y,z\n"),
                HasSubstr("names none of the model's columns: \"length\", \"colour\", \"depth\""));
    EXPECT_THAT(refused("width\n1\n"), HasSubstr("names none of the model's columns"));
    EXPECT_THAT(problems(read("length,x,colour,depth,x\n1,7,red,5,8\n")), IsEmpty())
        << "a column that the model does not use may be there twice";
}

TEST_F(InputRows, AreTakenByPositionWithoutAHeader) {
    const Cells wanted{{"length", "1.5"}, {"colour", "red"}, {"depth", "5"}};
    for (const char* text : {"1.5,red,9,5\n2,blue,8,6\n", "1.5,red,5 %\n2,blue,6\n",
                             "1.5\tred\t?\t5\n2\tblue\t?\t6\n"}) {
        const InputTable table = read(text);
        ASSERT_THAT(table.rows, SizeIs(2)) << text;
        EXPECT_EQ(table.rows[0].cells, wanted) << text;
        ASSERT_THAT(table.notes, SizeIs(1));
        EXPECT_THAT(table.notes[0].str(),
                    HasSubstr("no header: its columns are taken by position"));
    }
    // The first row may have a cell that cannot be read.
    EXPECT_THAT(problems(read("1.5,green,9,5\n2,blue,8,6\n")),
                ElementsAre("1: column colour: green was not in the training rows"));
}

TEST_F(InputRows, OfATableWithoutNamesAreTakenByPosition) {
    guide_.header = false;
    for (std::size_t i = 0; i < 3; ++i)
        guide_.columns[i].name = "column " + std::to_string(*guide_.columns[i].place + 1);
    EXPECT_EQ(read("1.5,red,9,5\n").rows.at(0).cells.at("column 4"), "5");
    const InputTable named = read("a,b,c,d\n1.5,red,9,5\n");
    ASSERT_THAT(named.rows, SizeIs(1));
    EXPECT_EQ(named.rows[0].cells.at("column 4"), "5");
    EXPECT_THAT(named.notes.at(0).str(), HasSubstr("the training table had no header"));
    EXPECT_EQ(read("column 4,column 1,column 2\n5,1.5,red\n").rows.at(0).cells.at("column 4"), "5");
    EXPECT_THAT(refused("1,2\n"), HasSubstr("names none"));
}

TEST_F(InputRows, AMissingValueIsTreatedAsInTraining) {
    const std::string text =
        "length,colour,depth\n,red,1\nNA,,2\n1,red,n.a.\n?,null,NaN\n1,red,3\n";
    const InputTable filled = read(text);
    EXPECT_THAT(problems(filled), IsEmpty());
    EXPECT_THAT(filled.rows[0].cells, ElementsAre(Pair("colour", "red"), Pair("depth", "1")))
        << "a number that is left out takes its usual value";
    EXPECT_THAT(filled.rows[1].cells, ElementsAre(Pair("colour", "blue"), Pair("depth", "2")));
    EXPECT_THAT(filled.rows[3].cells, ElementsAre(Pair("colour", "blue")));

    missing("drop");
    const InputTable dropped = read(text);
    EXPECT_THAT(problems(dropped), SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(dropped.rows[i].dropped);
    EXPECT_THAT(dropped.rows[2].problem.str(),
                HasSubstr("column depth: the value is missing; the row is left out"));

    missing("refuse");
    const InputTable refused = read(text);
    EXPECT_THAT(problems(refused), SizeIs(4));
    EXPECT_FALSE(refused.rows[0].dropped);
    EXPECT_THAT(refused.rows[0].problem.str(), HasSubstr("dataset.missing is refuse"));

    missing("mean");
    config_.options["missing_words"] = std::vector<std::string>{"-999"};
    EXPECT_THAT(problems(read("length,colour,depth\n-999,red,1\nNA,red,1\n")),
                ElementsAre("3: column length: NA is not a number"));
}

TEST_F(InputRows, AnyOtherUnreadableCellFailsItsRowAlone) {
    EXPECT_THAT(problems(read("length,colour,depth\nlong,red,1\n1,green,1\n1,red,5 km\ninf,red,1\n"
                              "1,Red,1\n1,red\n1,red,1,2\n\"1,200\",red,1\n1,red,\"1,200\"\n")),
                ElementsAre("2: column length: long is not a number",
                            "3: column colour: green was not in the training rows",
                            "4: column depth: 5 km is not a number",
                            "5: column length: inf is not a number",
                            "6: column colour: Red was not in the training rows",
                            "7: 2 fields where the first row has 3",
                            "8: 4 fields where the first row has 3",
                            "9: column length: 1,200 is not a number"));
}

TEST_F(InputRows, RunsOfEarlierVersionsAreReadByNameOrByTheColumnsInUse) {
    for (GuideColumn& column : guide_.columns) {
        column.place.reset();
        column.usual_number.reset();
        column.usual_category.clear();
    }
    guide_.table_columns = 0;
    EXPECT_THAT(problems(read("colour,length,depth\nred,1,5\n,2,\n")), IsEmpty());
    EXPECT_EQ(read("1.5,red,5\n").rows.at(0).cells.at("depth"), "5");
    EXPECT_THAT(refused("1.5,red,9,5\n"), HasSubstr("names none"));
}

}  // namespace
}  // namespace engine
