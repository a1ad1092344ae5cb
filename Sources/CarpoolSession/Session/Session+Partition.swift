internal import CarpoolHTTP

// The settings of connections, from the options of a request to a hop.
extension Session {
    /// Sets the properties that another request must share to use the connection of a hop. Some depend on its host, so
    /// that they are set for each hop.
    func setPartition(of hop: inout TransportRequest, for request: Request) {
        var values = ConnectionSettings.Values()
        values.trust = request.parameters.options.trust.value
        if let manager = request.parameters.options.serverTrustManager.value {
            values.trust.evaluator = manager.evaluator(for: hop.url.origin)
        }
        values.tls = request.parameters.options.tls.value
        values.certificate = request.parameters.options.certificate.value
        values.addresses = request.parameters.options.addresses.value
        hop.partition = ConnectionPartition(settings: .make(values), user: user)
    }
}
