internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// Parts of a configuration in the form in which `session.create` takes them.
extension SessionHandlers {
    func write(_ trust: ConnectionPartition.Trust, to writer: inout JSONWriter) {
        switch trust {
        case .system: writer.string(static: "system")
        case .authorities(let path, _):
            writer.beginObject()
            writer.member("ca_file", path)
            writer.endObject()
        case .none:
            writer.beginObject()
            writer.member("verify", false)
            writer.endObject()
        }
    }

    func write(_ redirect: RedirectHandler, to writer: inout JSONWriter) {
        if case .doNotFollow = redirect.behaviour { return writer.string(static: "do_not_follow") }
        guard redirect != .follow else { return writer.string(static: "follow") }
        writer.beginObject()
        writer.member("max_hops", redirect.maximumHops)
        writer.endObject()
    }
}
