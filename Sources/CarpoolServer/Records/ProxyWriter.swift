internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Writes the proxies of a session as its parameter `proxy`, without passwords.
enum ProxyWriter {
    /// - Parameter exceptions: `no_proxy` as it was set; `nil` for none.
    static func write(_ settings: ProxySettings?, exceptions: JSON?, to writer: inout JSONWriter) {
        writer.beginObject()
        if let settings {
            if settings.http == settings.https {
                write("all", settings.http, to: &writer)
            } else {
                write("http", settings.http, to: &writer)
                write("https", settings.https, to: &writer)
            }
        }
        if let exceptions {
            writer.key("no_proxy")
            writer.value(exceptions)
        }
        writer.endObject()
    }

    private static func write(_ name: StaticString, _ proxy: Proxy?, to writer: inout JSONWriter) {
        guard let proxy else { return }
        writer.key(name)
        writer.beginObject()
        writer.member("url", proxy.description)
        writer.member("username", proxy.credential?.user)
        if proxy.schemes != [.basic] { writer.member("schemes", proxy.schemes.map(\.rawValue).sorted()) }
        if proxy.tunnelsEverything { writer.member("tunnel", true) }
        writer.member("preproxy", proxy.preproxy?.description)
        writer.endObject()
    }
}
