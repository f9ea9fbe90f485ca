#include "widgets/save_dialog.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QFileDialog>
#include <QTemporaryDir>
#include <QTimer>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

const std::vector<FileForm> forms{{u"Weights (*.safetensors)"_s, u"safetensors"_s},
                                  {u"ONNX (*.onnx)"_s, u"onnx"_s},
                                  {u"ONNX, FP16 (*.onnx)"_s, u"onnx"_s},
                                  {u"Table (*.md)"_s, u"md"_s},
                                  {u"Lesson (*.lesson.md)"_s, u"lesson.md"_s}};

struct Case {
    QString typed;
    std::size_t chosen;
    QString file;
    std::size_t form;
};

TEST(SaveDialog, TheTypedEndingDecidesElseTheFilter) {
    const Case cases[] = {{u"/d/net4.onnx"_s, 0, u"/d/net4.onnx"_s, 1},
                          {u"/d/net4.onnx"_s, 2, u"/d/net4.onnx"_s, 2},
                          {u"/d/net4.ONNX"_s, 0, u"/d/net4.ONNX"_s, 1},
                          {u"/d/net4"_s, 0, u"/d/net4.safetensors"_s, 0},
                          {u"/d/net.4"_s, 1, u"/d/net.4.onnx"_s, 1},
                          {u"/d.onnx/net"_s, 3, u"/d.onnx/net.md"_s, 3},
                          {u"/d/a.lesson.md"_s, 0, u"/d/a.lesson.md"_s, 4},
                          {u"/d/a.md"_s, 0, u"/d/a.md"_s, 3}};
    for (const Case& each : cases) {
        const NamedFile named = formOf(each.typed, forms, each.chosen);
        EXPECT_EQ(named.file, each.file);
        EXPECT_EQ(named.form, each.form) << each.typed.toStdString();
    }
}

TEST(SaveDialog, AnotherFilterChangesTheEnding) {
    const QTemporaryDir folder;
    QTimer answer;
    QObject::connect(&answer, &QTimer::timeout, &answer, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr) return;
        answer.stop();
        dialog->selectFile(folder.filePath(u"net.safetensors"_s));
        dialog->selectNameFilter(forms[1].filter);
        emit dialog->filterSelected(forms[1].filter);
        static_cast<QDialog*>(dialog)->done(QDialog::Accepted);
    });
    answer.start(10);
    const auto named = askForFile(nullptr, u"Save"_s, u"x"_s, forms);
    ASSERT_TRUE(named);
    EXPECT_EQ(named->file, folder.filePath(u"net.onnx"_s));
    EXPECT_EQ(named->form, 1u);
}

}  // namespace
}  // namespace ui
