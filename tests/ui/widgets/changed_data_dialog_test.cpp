// The question when the data of a run have changed.
#include "widgets/changed_data_dialog.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(ChangedDataDialog, SaysWhatDiffersAndIsNotAcceptedByChance) {
    const QString what = u"The data have changed since run 3 read them: <b>a.csv</b>."_s;
    ChangedDataDialog dialog(what, u"Then this."_s, nullptr);
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    bool told = false;
    for (const auto* label : dialog.findChildren<QLabel*>())
        told = told || (label->text() == what && label->textFormat() == Qt::PlainText);
    EXPECT_TRUE(told) << "a file's name is no HTML";
    auto* go = dialog.findChild<QPushButton*>(u"primary"_s);
    ASSERT_NE(go, nullptr);
    EXPECT_FALSE(go->isDefault()) << "Enter leaves the run as it is";
    int accepted = 0, rejected = 0;
    QObject::connect(&dialog, &QDialog::accepted, [&] { ++accepted; });
    QObject::connect(&dialog, &QDialog::rejected, [&] { ++rejected; });
    dialog.reject();
    EXPECT_EQ(rejected, 1);
    go->click();
    EXPECT_EQ(accepted, 1);
}

}  // namespace
}  // namespace ui
