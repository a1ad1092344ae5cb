internal import CarpoolHTTP

// Bodies that are sent only with an answer to a challenge (``RequestParameters/challengersBeforeBody``).
extension Session {
    /// Takes the body off a hop that has no answer for one of the servers that have to ask first.
    func withholdBody(of hop: inout TransportRequest, for request: Request) {
        let authentication = authentication(of: request)
        authentication.withheld = nil
        if case .none = hop.body { return }
        let servers = request.parameters.challengersBeforeBody
        let asked: [ChallengingServer] = [.origin, .proxy].filter {
            servers.contains($0 == .origin ? .origin : .proxy) && $0.origin(for: hop) != nil
                && mayAuthenticate(at: $0, hop)
        }
        let isMissing = asked.contains { authentication[$0].sent.answer == nil }
        guard isMissing, !authentication.isBodyDue else { return }
        var whole = hop
        whole.hopFields = nil
        authentication.withheld = whole
        hop.body = .bytes([])
        hop.expectsContinue = false
        if !hop.hasDefaultFields { hop.fields = Session.fieldsWithoutBody(hop.fields) }
    }

    /// The fields of a request that has lost its body: its length is 0, and it is no form.
    private static func fieldsWithoutBody(_ fields: [HTTPField]) -> [HTTPField] {
        let hasLength = fields.contains { $0.isNamed("content-length") }
        return fields.compactMap { field in
            if field.isNamed("transfer-encoding") {
                return hasLength ? nil : try? HTTPField(ofConnection: "Content-Length", value: "0")
            }
            let isForm = field.isNamed("content-type") && field.value.lowercased().hasPrefix("multipart/")
            return field.isNamed("expect") || isForm ? nil : field
        }
    }

    /// Handles a final response to a hop without its body. Returns whether the request follows with it: the server has
    /// asked for no credential.
    func sendsWithheldBody(after head: ResponseHead, of request: Request) -> Bool {
        guard (200..<300).contains(head.status), let authentication = request.authentication,
            let whole = authentication.withheld
        else { return false }
        authentication.isBodyDue = true
        request.redirection = .follow(whole)
        return true
    }
}
