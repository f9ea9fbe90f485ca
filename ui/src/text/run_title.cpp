#include "text/run_title.h"

#include "engine/catalog.h"
#include "feed/run_track.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

QString precisionTitle(const std::string& preset) {
    for (const auto& info : engine::precisions()) {
        if (info.preset == preset) return engineText(info.title);
    }
    return QString::fromStdString(preset);
}

QString trackTitle(const RunTrack& track) {
    const QString title = precisionTitle(track.precision());
    return track.tag.isEmpty() ? title : title + u" · "_s + track.tag;
}

}  // namespace ui
