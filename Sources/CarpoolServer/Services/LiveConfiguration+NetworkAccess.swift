internal import CarpoolRPC
internal import CarpoolSystem

extension LiveConfiguration {
    /// Refuses a client that has another network or other files than the daemon, if the configuration permits such clients no
    /// network.
    func checkNetwork(of client: any Client) throws(RPCError) {
        guard !current.allowsSandboxedNetwork, let part = client.enclosure else { return }
        throw .forbidden(
            "the daemon makes no connections for this client, which differs in: \(part.rawValue)",
            hint: "Leave the sandbox, or have the daemon's owner set access.sandboxed_network to true.")
    }
}
