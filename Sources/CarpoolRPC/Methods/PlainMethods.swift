// The methods with parameters of any kind; the described ones replace this file.
internal import CarpoolJSON
extension RPCErrorKind {
    /// Interim.
    public static let clientNotFound = queueFull
    /// Interim.
    public static let configurationRefused = queueFull
}
extension Catalogue {
    /// Interim.
    public static let carpool = Catalogue(methods: [
        Method("rpc.discover", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("rpc.cancel", role: .observe, "s", "d", params: [.init("id", .any, "x")], result: .any, examples: []),
        Method(
            "client.hello", role: .observe, "s", "d",
            params: [
                .init("name", .any, "x"), .init("version", .any, "x"), .init("protocol", .any, "x"),
                .init("required", .any, "x"), .init("optional", .any, "x"), .init("max_line_bytes", .any, "x"),
            ], result: .any, examples: []),
        Method("client.list", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method(
            "client.disconnect", role: .observe, "s", "d", params: [.init("client", .any, "x")], result: .any,
            examples: []),
        Method("daemon.ping", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("daemon.info", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("daemon.stats", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("daemon.config", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("daemon.config_reload", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method(
            "daemon.log_level", role: .observe, "s", "d", params: [.init("level", .any, "x")], result: .any,
            examples: []),
        Method(
            "daemon.drain", role: .observe, "s", "d", params: [.init("deadline_ms", .any, "x")], result: .any,
            examples: []),
        Method("daemon.shutdown", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method(
            "session.create", role: .observe, "s", "d",
            params: [.init("name", .any, "x"), .init("configuration", .any, "x")], result: .any, examples: []),
        Method(
            "session.get", role: .observe, "s", "d", params: [.init("session", .any, "x")], result: .any, examples: []),
        Method("session.list", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method(
            "session.invalidate", role: .observe, "s", "d",
            params: [.init("session", .any, "x"), .init("mode", .any, "x")], result: .any, examples: []),
        Method(
            "request.get", role: .observe, "s", "d", params: [.init("request", .any, "x")], result: .any, examples: []),
        Method(
            "request.wait", role: .observe, "s", "d",
            params: [.init("request", .any, "x"), .init("timeout_ms", .any, "x")], result: .any, examples: []),
        Method(
            "request.list", role: .observe, "s", "d",
            params: [
                .init("state", .any, "x"), .init("session", .any, "x"), .init("scope", .any, "x"),
                .init("limit", .any, "x"), .init("next", .any, "x"),
            ], result: .any, examples: []),
        Method(
            "request.cancel", role: .observe, "s", "d", params: [.init("request", .any, "x")], result: .any,
            examples: []),
        Method(
            "request.dismiss", role: .observe, "s", "d", params: [.init("request", .any, "x")], result: .any,
            examples: []),
        Method(
            "body.read", role: .observe, "s", "d",
            params: [.init("request", .any, "x"), .init("offset", .any, "x"), .init("length_bytes", .any, "x")],
            result: .any, examples: []),
        Method(
            "body.release", role: .observe, "s", "d", params: [.init("request", .any, "x")], result: .any, examples: []),
        Method("pool.stats", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method("pool.flush", role: .observe, "s", "d", params: [], result: .any, examples: []),
        Method(
            "events.subscribe", role: .observe, "s", "d",
            params: [.init("types", .any, "x"), .init("scope", .any, "x")], result: .any, examples: []),
        Method(
            "events.unsubscribe", role: .observe, "s", "d", params: [.init("sub", .any, "x")], result: .any,
            examples: []),
        Method(
            "request.submit", role: .observe, "s", "d",
            params: [
                .init("url", .any, "x"), .init("session", .any, "x"), .init("method", .any, "x"),
                .init("headers", .any, "x"), .init("kind", .any, "x"), .init("body", .any, "x"),
                .init("trust", .any, "x"), .init("timeout_ms", .any, "x"), .init("resource_timeout_ms", .any, "x"),
                .init("connect_timeout_ms", .any, "x"), .init("http_version", .any, "x"), .init("redirect", .any, "x"),
                .init("decode", .any, "x"), .init("max_ratio", .any, "x"), .init("response_body", .any, "x"),
                .init("on_disconnect", .any, "x"), .init("key", .any, "x"), .init("tags", .any, "x"),
            ], result: .any, examples: []),
        Method(
            "request.perform", role: .observe, "s", "d",
            params: [
                .init("url", .any, "x"), .init("session", .any, "x"), .init("method", .any, "x"),
                .init("headers", .any, "x"), .init("kind", .any, "x"), .init("body", .any, "x"),
                .init("trust", .any, "x"), .init("timeout_ms", .any, "x"), .init("resource_timeout_ms", .any, "x"),
                .init("connect_timeout_ms", .any, "x"), .init("http_version", .any, "x"), .init("redirect", .any, "x"),
                .init("decode", .any, "x"), .init("max_ratio", .any, "x"), .init("response_body", .any, "x"),
                .init("on_disconnect", .any, "x"), .init("key", .any, "x"), .init("tags", .any, "x"),
            ], result: .any, examples: []),
    ])
}
