#include "models/settings_memory.h"

#include <QSettings>

#include "models/settings_model.h"

namespace ui {

using namespace Qt::StringLiterals;

SettingsMemory::SettingsMemory(SettingsModel* settings, QObject* parent)
    : QObject(parent), settings_(settings) {
    // Settings of another version that this one rejects are left in place until the first change.
    settings_->fromJson(QSettings().value(u"settings"_s).toByteArray());
    settings_->forgetChanges();
    connect(settings_, &SettingsModel::changed, this, &SettingsMemory::keep);
}

void SettingsMemory::keep() const { QSettings().setValue(u"settings"_s, settings_->toJson()); }

}  // namespace ui
