internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem

/// Writes the arguments as parameters of `request.perform` and `request.submit`.
struct RequestWriter {
    private let request: RequestArguments
    private let fields: [RequestArguments.Field]
    private let body: BodyArgument?
    private let environment: Environment

    /// - Parameters:
    ///   - fields: the header fields of the command line and of the files that it names.
    ///   - environment: has the variables of proxies and of authorities.
    init(
        _ request: RequestArguments, _ fields: [RequestArguments.Field], _ body: BodyArgument?,
        _ environment: Environment = .process
    ) {
        self.environment = environment
        self.request = request
        self.fields = fields
        self.body = body
    }

    /// Writes the object; the closure adds members.
    /// - Parameter events: the types of the events that the call needs, besides those of retries.
    func write(
        to writer: inout JSONWriter, events: [String] = [], and more: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.beginObject()
        writer.member("url", request.completeURL)
        writer.member("method", request.method)
        writeFields(to: &writer)
        if let body {
            writer.key("body")
            body.write(to: &writer)
        }
        // A session that is named says itself what it decodes.
        if request.session == nil { DecodingRule.unlessFile.write(to: &writer) }
        writer.member("session", request.session)
        request.trust.orAuthorities(of: environment).write(to: &writer)
        request.connection.write(to: &writer)
        request.credential.write(to: &writer)
        request.cookies.write(to: &writer)
        request.cache.write(to: &writer, isDownload: request.output != nil)
        request.proxy.write(to: &writer, environment)
        // The idle timeout is one minute by default, and must not be shorter than --timeout.
        writer.member("timeout_ms", request.timeoutMilliseconds)
        writer.member("resource_timeout_ms", request.timeoutMilliseconds)
        writer.member("connect_timeout_ms", request.connectMilliseconds)
        writer.member("http_version", request.httpVersion)
        writer.member("priority", request.priority)
        if request.parallel > 1 { writer.member("connections_per_host", request.parallel) }
        for count in request.counts {
            writer.key(count.parameter)
            writer.integer(Int64(count.value))
        }
        writeInterceptors(to: &writer)
        writeRedirects(to: &writer)
        write(events: events + request.retryEvents, to: &writer)
        more(&writer)
        writer.endObject()
    }

    private func write(events: [String], to writer: inout JSONWriter) {
        guard !events.isEmpty else { return }
        writer.key("events")
        writer.beginObject()
        writer.member("types", events)
        writer.endObject()
    }

    /// Writes how much the record has: of a request with `-v`, the fields too.
    func writeDetail(to writer: inout JSONWriter) {
        if request.isVerbose { writer.member("detail", static: "full") }
    }

    private func writeFields(to writer: inout JSONWriter) {
        var fields = fields
        func addUnlessGiven(_ name: String, _ value: String) {
            guard !fields.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return }
            fields.append(RequestArguments.Field(name, value))
        }
        if let text = request.cookies.text, !request.cookies.hasJar { addUnlessGiven("Cookie", text) }
        if request.isJSON {
            addUnlessGiven("Content-Type", "application/json")
            addUnlessGiven("Accept", "application/json")
        } else if isForm {
            addUnlessGiven("Content-Type", "application/x-www-form-urlencoded")
        }
        // A range of the encoded bytes could not be decoded.
        if !request.asksForCoding, fields.contains(where: { $0.name.lowercased() == "range" }) {
            addUnlessGiven("Accept-Encoding", "identity")
        }
        guard !fields.isEmpty else { return }
        writer.key("headers")
        writer.beginArray()
        for field in fields {
            writer.beginArray()
            writer.string(field.name)
            writer.string(field.value)
            writer.endArray()
        }
        writer.endArray()
    }

    /// Whether the default content type is that of a form: with `-d`, as in curl.
    private var isForm: Bool {
        switch request.body {
        case .text, .file, .standardInput: true
        case .upload, .stream, .form, nil: false
        }
    }

    private func writeRedirects(to writer: inout JSONWriter) {
        guard request.followsRedirects else { return writer.member("redirect", static: "do_not_follow") }
        guard let maximum = request.maximumRedirects else { return }
        writer.key("redirect")
        writer.beginObject()
        writer.member("max_hops", maximum)
        writer.endObject()
    }

    private func writeInterceptors(to writer: inout JSONWriter) {
        guard request.retry.count > 0 || request.oauth2.isGiven else { return }
        writer.key("interceptor")
        writer.beginArray()
        if request.oauth2.isGiven { request.oauth2.write(to: &writer, isSent: !request.isDryRun) }
        if request.retry.count > 0 { request.retry.write(to: &writer) }
        writer.endArray()
    }
}
