internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// `request.explain`: the settings of the connection that a request would use.
struct ExplainHandlers {
    let requests: RequestService
    let sessions: SessionService
    let callFiles: CallFileService
    let transport: CurlTransport
    let configuration: LiveConfiguration
    /// The file that declares sessions.
    let configurationPath: String

    var table: [String: Handler] { ["request.explain": explain] }

    private func explain(_ call: Call) throws(RPCError) -> Answer {
        try callFiles.withFiles(of: call, within: { () throws(RPCError) in try requests.limit(of: call) }) {
            files throws(RPCError) in try explain(call, files)
        }
    }

    private func explain(_ call: Call, _ files: CallFiles) throws(RPCError) -> Answer {
        try configuration.checkNetwork(of: call.client)
        let session = try sessions.session(call.params["session"], of: call.client)
        let parameters = try requests.decoder(for: call.client, files: files).parameters(call.params, call.parts)
        let plan = try plan(for: parameters, of: session)
        let isDeclared = sessions.table.entry(session.name, of: call.client.uid)?.declaration != nil
        let load = transport.connections(for: plan.request)
        let sharing = transport.sharing(of: plan.request)
        let partition = plan.request.connectionPartition
        return .result { writer in
            writer.beginObject()
            writer.member("session", session.name)
            if isDeclared { writer.member("declared_in", configurationPath) }
            ConnectionPlanWriter(plan: plan, systemAuthorities: transport.authoritiesPath).write(to: &writer)
            writer.key("pool")
            writer.beginObject()
            writer.member("settings", partition.differences)
            switch sharing {
            case .multiplexed: writer.member("sharing", static: "multiplexed")
            case .sequential: writer.member("sharing", static: "sequential")
            case .separate: writer.member("sharing", static: "separate")
            }
            writer.member("uid", partition.user)
            writer.member("connections", load.connections)
            writer.member("idle", load.idle)
            writer.endObject()
            writer.endObject()
        }
    }

    private func plan(
        for parameters: RequestParameters, of session: Session
    ) throws(RPCError) -> ConnectionPlan {
        do throws(SessionError) {
            return try session.connectionPlan(for: parameters)
        } catch {
            throw .invalidParams(path: "params.url", message: error.message, expected: "an http or https URL")
        }
    }
}
