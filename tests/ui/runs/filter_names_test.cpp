#include "runs/filter_names.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/run_query.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(FilterNames, CallEachFieldByATitleOfItsOwn) {
    const auto fields = engine::run_fields();
    std::set<QString> titles;
    for (const FilterName& each : filterNames(fields)) {
        EXPECT_TRUE(titles.insert(each.title.toLower()).second) << each.title.toStdString();
        const QString filter = quotedTitle(each.title) + u"=x"_s;
        EXPECT_EQ(filterWithKeys(filter, filterNames(fields)), each.key + u"=x"_s);
    }
    EXPECT_TRUE(titles.contains(u"learning rate"_s));
}

TEST(FilterNames, StandInFilters) {
    const auto names = filterNames(engine::run_fields());
    const auto keys = [&](const QString& filter) { return filterWithKeys(filter, names); };
    EXPECT_EQ(keys(u"\"Learning rate\">0.01 tag:a"_s), u"optimizer.lr>0.01 tag:a"_s);
    EXPECT_EQ(keys(u"-\"learning rate\"!=0.1"_s), u"-optimizer.lr!=0.1"_s);
    EXPECT_EQ(keys(u"Seed=3  lr>0.1"_s), u"seed=3  lr>0.1"_s);
    EXPECT_EQ(keys(u"notes~\"Learning rate=\""_s), u"notes~\"Learning rate=\""_s) << "a value";
    EXPECT_EQ(keys(u"\"Learning rate\""_s), u"\"Learning rate\""_s) << "words to look for";
    EXPECT_EQ(keys(u"\"open"_s), u"\"open"_s);
    EXPECT_EQ(keys(u""_s), u""_s);
}

}  // namespace
}  // namespace ui
