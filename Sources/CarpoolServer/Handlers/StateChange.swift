internal import CarpoolJSON

/// The answer of every call that changes a state.
enum StateChange {
    static func write(_ changed: Bool, state: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("changed", changed)
        writer.member("state", state)
        writer.endObject()
    }
}
