#pragma once

#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QScrollArea>
#include <QStatusBar>
#include <atomic>
#include <utility>
#include <vector>

#include "engine/io/named_file.h"
#include "panels/frame/work_strip.h"
#include "panels/settings/column_picker.h"
#include "panels/settings/settings_field.h"
#include "support/window_stage.h"
#include "widgets/changed_data_dialog.h"

namespace ui {

using ControlPicture = std::pair<QString, QPixmap>;

/// Pictures of controls that no page shows by itself: the list of a table's columns, the strip of
/// long work, the question about changed data, the decoder of pictures.
class Controls {
public:
    explicit Controls(WindowStage& stage) : stage_(stage) {}

    std::vector<ControlPicture> all() {
        std::vector<ControlPicture> out;
        out.push_back({QStringLiteral("columns"), columns()});
        out.push_back({QStringLiteral("work"), workStrip()});
        out.push_back({QStringLiteral("changed"), changedData()});
        out.push_back({QStringLiteral("decoder"), decoder()});
        return out;
    }

private:
    SettingsField* field(const QString& path) const {
        for (auto* each : stage_.window->findChildren<SettingsField*>())
            if (each->path() == path) return each;
        return nullptr;
    }
    /// Shows the field as a person finds it: with all settings, scrolled to.
    SettingsField* shown(const QString& path) const {
        auto* link = stage_.window->findChild<QAbstractButton*>(QStringLiteral("allSettings"));
        if (field(path) == nullptr || !field(path)->isVisible()) link->click();
        SettingsField* found = field(path);
        for (QWidget* at = found; at != nullptr; at = at->parentWidget()) {
            auto* area = qobject_cast<QScrollArea*>(at);
            if (area == nullptr) continue;
            area->ensureWidgetVisible(found);
            break;
        }
        stage_.settle();
        return found;
    }
    QPixmap columns() {
        QFile table(stage_.folder.filePath(QStringLiteral("houses.csv")));
        if (!table.open(QIODevice::WriteOnly)) return {};
        table.write("area,\"floor, roof\",rooms,year,street,price\n");
        for (int i = 0; i < 40; ++i) table.write(QByteArray::number(i) + ",2,3,1990,a,4\n");
        table.close();
        stage_.commands.openPath(table.fileName());
        waitFor([this] { return stage_.settings.data() != nullptr; }, 20'000);
        SettingsField* found = shown(QStringLiteral("dataset.without"));
        stage_.settings.set(QStringLiteral("dataset.without"), QStringLiteral("rooms,colour"));
        auto* picker = found->editor()->findChild<ColumnPicker*>();
        if (picker == nullptr) return {};
        picker->open();
        stage_.settle();
        auto* list = stage_.window->findChild<QListWidget*>(QStringLiteral("columnPicker"));
        const QPixmap picture = list->grab();
        list->hide();
        return picture;
    }
    QPixmap workStrip() {
        std::atomic<bool> stop{false};
        const QString title = QStringLiteral("run-3.onnx");
        stage_.commands.works()->start(
            {title, {}, [&stop, file = stage_.folder.filePath(title).toStdString()] {
                 const std::string text(std::size_t{1} << 20, 'x');
                 while (!stop) engine::write_named_file(file, text);
                 return QString();
             }});
        auto* strip = stage_.window->findChild<WorkStrip*>();
        waitFor([strip] { return strip->isVisible(); }, 20'000);
        stage_.settle();
        const QPixmap picture = stage_.window->statusBar()->grab();
        stop = true;
        waitFor([this] { return !stage_.commands.works()->busy(); }, 20'000);
        return picture;
    }
    QPixmap changedData() {
        const engine::Message what = engine::msg("{}: {} of {} pictures cannot be read: {}",
                                                 "/data/flowers", 3, 120, "roses/7.jpg");
        ChangedDataDialog dialog(engineText(what), engineText(what), stage_.window.get());
        dialog.show();
        stage_.settle();
        return dialog.grab();
    }
    QPixmap decoder() {
        stage_.settings.set(QStringLiteral("dataset.kind"), QStringLiteral("image-folder"));
        SettingsField* found = shown(QStringLiteral("dataset.decoder"));
        return found == nullptr ? QPixmap() : found->parentWidget()->grab();
    }

    WindowStage& stage_;
};

}  // namespace ui
