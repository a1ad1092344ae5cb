internal import CarpoolJSON
internal import CarpoolSession

/// One question to a client, such as `callback.adapt`, as it is sent.
struct CallbackQuestion {
    /// Truncation limits for fields whose length a peer controls.
    struct Detail {
        /// The most bytes of a body, encoded.
        var bodyBytes: Int
        /// Of fields and URLs.
        var head: RecordWriter.Detail
    }

    /// The method's name.
    let method: StaticString
    /// The callback's name, deadline and fallback, as the caller set them.
    let specification: CallbackSpecification
    /// The session, and the request unless it is about the session alone. Neither for a question about a server.
    let session: String?
    let request: String?
    let attempt: Int?
    /// Whether the answer still matters after the end of the request.
    var outlivesRequest = false
    /// Writes the members that this method has besides. It may be called again, with less detail or for another client.
    let members: (inout JSONWriter, Detail) -> Void

    /// A question about a request.
    init(
        _ method: StaticString, _ specification: CallbackSpecification, about request: Request,
        members: @escaping (inout JSONWriter, Detail) -> Void
    ) {
        self.method = method
        self.specification = specification
        session = request.session.name
        self.request = request.id
        attempt = request.attempts.count
        self.members = members
    }

    /// A question about a challenge.
    init(
        _ method: StaticString, _ specification: CallbackSpecification, about subject: ChallengeDecider.Subject,
        members: @escaping (inout JSONWriter, Detail) -> Void
    ) {
        self.method = method
        self.specification = specification
        session = subject.session
        request = subject.request
        attempt = subject.attempt
        self.members = members
    }

    /// A question about a session.
    init(
        _ method: StaticString, _ specification: CallbackSpecification, about session: Session,
        members: @escaping (inout JSONWriter, Detail) -> Void
    ) {
        self.method = method
        self.specification = specification
        self.session = session.name
        request = nil
        attempt = nil
        self.members = members
    }

    /// A question about a server.
    init(
        _ method: StaticString, _ specification: CallbackSpecification,
        members: @escaping (inout JSONWriter, Detail) -> Void
    ) {
        self.method = method
        self.specification = specification
        session = nil
        request = nil
        attempt = nil
        self.members = members
    }

    /// Writes the question in a form that fits a client's line. What is too long is left out and marked: the body
    /// first, then fields and URLs.
    /// - Parameter deadlineMilliseconds: what is left of the time for an answer.
    func write(
        number: Int, deadlineMilliseconds: Int, bodyBytes: Int, atMost limit: Int, to writer: inout JSONWriter
    ) {
        let start = writer.count
        let shortened = RecordWriter.Detail(headerBytes: limit / 6, urlBytes: limit / 8, hops: 1)
        let details = [
            Detail(bodyBytes: bodyBytes, head: .whole), Detail(bodyBytes: 0, head: .whole),
            Detail(bodyBytes: 0, head: shortened),
        ]
        for detail in details {
            writer.rewind(to: start)
            write(number: number, deadlineMilliseconds, detail, to: &writer)
            if writer.count - start <= limit { return }
        }
    }

    private func write(number: Int, _ deadlineMilliseconds: Int, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("id", CallbackQuestion.id(number))
        writer.member("method", static: method)
        writer.key("params")
        writer.beginObject()
        writer.member("callback", specification.name)
        writer.member("session", session)
        writer.member("request", request)
        writer.member("attempt", attempt)
        writer.member("deadline_ms", deadlineMilliseconds)
        members(&writer, detail)
        writer.endObject()
        writer.endObject()
    }

    // MARK: The id

    private static let prefix = "cb_"

    /// The id of a question on the wire.
    static func id(_ number: Int) -> String { prefix + String(number) }

    /// The number of the question that an id, as JSON text, belongs to.
    static func number(ofID text: [UInt8]) -> Int? {
        guard let id = (try? JSON.parse(text))?.string, id.hasPrefix(prefix) else { return nil }
        let number = Int(id.dropFirst(prefix.count))
        // Another spelling of the number is another id.
        return number.flatMap { CallbackQuestion.id($0) == id ? $0 : nil }
    }
}
