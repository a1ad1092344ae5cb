internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// Events about the network.
extension EventPublisher {
    func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {
        publish(.taskIsWaitingForConnectivity, request: request) { writer in
            writer.member("status", path.status.rawValue)
            writer.member("reason", path.reason)
        }
    }
}
