internal import CarpoolRPC
internal import CarpoolSystem

extension LiveConfiguration {
    /// Refuses a client that has another network or other files than the daemon, if the configuration permits such
    /// clients no network.
    func checkNetwork(of client: any Client) throws(RPCError) {
        guard !current.allowsSandboxedNetwork, let part = client.sandboxDifference else { return }
        guard part != .shortage else { throw .shortage() }
        let difference =
            part == .unknown
            ? "cannot be inspected" : "has another \(part.rawValue) than the daemon, as in a container or sandbox"
        throw .forbidden(
            "the daemon makes no connections for this client, whose process \(difference)",
            hint: "Leave the sandbox, or the owner of the daemon can set access.sandboxed_network to true.")
    }
}
