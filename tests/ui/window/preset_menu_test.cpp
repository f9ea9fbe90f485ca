#include "window/preset_menu.h"

#include <QAction>

#include "engine/runs/settings_presets.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PresetMenuTest : WindowFixture {
    ~PresetMenuTest() override {
        for (const auto& preset : engine::list_settings_presets())
            engine::delete_settings_preset(preset.name);
    }
    QAction* item(const QString& name) {
        auto* menu = window->findChild<PresetMenu*>();
        emit menu->aboutToShow();
        return menu->findChild<QAction*>(name);
    }
};

TEST_F(PresetMenuTest, SavesTheSettingsUnderANameAndLoadsThem) {
    settings.set(u"batch_size"_s, u"77"_s);
    settings.setComparison({u"fp32"_s, u"amp-bf16"_s});
    window->findChild<PresetMenu*>()->save(u"my & net"_s);
    const QByteArray saved = settings.toJson();
    settings.load(engine::default_comparison(), {u"fp32"_s});
    QAction* load = item(u"my & net"_s);
    ASSERT_NE(load, nullptr);
    EXPECT_TRUE(load->isEnabled());
    load->trigger();
    EXPECT_EQ(settings.toJson(), saved);
    QCoreApplication::processEvents();
    settings.undo();
    EXPECT_NE(settings.toJson(), saved);
}

TEST_F(PresetMenuTest, LoadsAnExample) {
    QAction* load = item(u"example shapes"_s);
    ASSERT_NE(load, nullptr);
    ASSERT_TRUE(load->isEnabled());
    load->trigger();
    EXPECT_TRUE(settings.toJson().contains("maskrcnn-resnet18"));
}

TEST_F(PresetMenuTest, SaysWhyOneCannotBeLoaded) {
    engine::save_settings_preset("broken", R"({"batch_size": "many"})");
    QAction* load = item(u"broken"_s);
    ASSERT_NE(load, nullptr);
    EXPECT_FALSE(load->isEnabled());
    EXPECT_FALSE(load->toolTip().isEmpty());
}

}  // namespace
}  // namespace ui
