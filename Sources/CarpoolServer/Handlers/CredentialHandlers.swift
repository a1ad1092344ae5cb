internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// `credentials.*`: users and passwords of the caller's sessions.
struct CredentialHandlers {
    let sessions: SessionService
    let callFiles: CallFileService
    let configuration: LiveConfiguration

    var table: [String: Handler] {
        ["credentials.set": set, "credentials.list": list, "credentials.remove": remove]
    }

    /// Memory of a credential without its texts.
    private static let bareBytes = 1_024

    private func set(_ call: Call) throws(RPCError) -> Answer {
        let names = CallFileNames(password: call.params["password"], at: "params.password")
        return try callFiles.withFiles(names, of: call) { files throws(RPCError) in try set(call, files) }
    }

    private func set(_ call: Call, _ files: CallFiles) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        let space = try CredentialReader.space({ call.params[$0] }, path: "params")
        let reader = CredentialReader(passwords: PasswordReader(files: files, client: call.client))
        let credential = try reader.credential({ call.params[$0] }, path: "params")
        try CredentialReader.check(credential, in: space, path: "params")
        guard session.credentials.hasRoom(for: space) else {
            throw RPCError(
                .wrongState,
                "session \(session.name) has \(SessionCredentials.maximumCount) credentials, the most that there may be"
            ).with("state", "valid").with("expected", "a session with fewer; credentials.remove removes one")
                .with("session", session.name)
        }
        let ticket: QuotaLedger.Ticket
        do throws(Quota.Refusal) {
            ticket = try sessions.memoryQuota.take(
                CredentialHandlers.bareBytes &+ call.messageBytes &+ files.passwordBytes, for: call.client.identity,
                configuration.limits.sessionByteBounds)
        } catch {
            throw .tooManySessionBytes(error)
        }
        let entry = SessionCredentials.Entry(credential, for: space, isOfConfiguration: false, account: ticket)
        let isChanged = session.setCredential(entry)
        return .result { StateChange.write(isChanged, state: "present", to: &$0) }
    }

    private func list(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        let place = try ListPage.place(of: call, radix: 10)
        let page = ListPage(call)
        let shown = session.credentials.entries.enumerated().dropFirst(place)
        return .result { writer in
            writer.beginObject()
            page.write("credentials", shown, to: &writer) {
                String($0.offset + 1)
            } _: {
                CredentialWriter.write($0.element, to: &$1)
            }
            writer.endObject()
        }
    }

    private func remove(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        let space = try CredentialReader.space({ call.params[$0] }, path: "params")
        let isChanged = session.removeCredential(of: space)
        return .result { StateChange.write(isChanged, state: "absent", to: &$0) }
    }
}
