package policies

// all are the policies. A new one is a file and a line here.
var all = []*Policy{
	// What keeps the collector alive.
	memoryLimiterMissing,
	memoryLimiterNotFirst,
	memoryLimiterUnfit,
	// What is in the wrong order.
	batchBeforeDropping,
	k8sAttributesAfterBatch,
	k8sAttributesWithoutAssociation,
	metricsAfterSampling,
	splitTraces,
	tracesNotRoutedByTrace,
	resourceDetectionOverrides,
	requestMetadataMissing,
	// What is lost on the way.
	noRetry,
	noSendingQueue,
	debugExporterOnly,
	duplicateExport,
	filePositionsNotStored,
	ottlErrorsHidden,
	routingWithoutDefault,
	deltasToRemoteWrite,
	everythingSampled,
	samplerDropsAll,
	connectorPutsOutNothing,
	redactionRemovesAll,
	metricsTransformIncomplete,
	histogramBoundsUnsorted,
	// What means something else than it says.
	patternTakenLiterally,
	filePathNotIncluded,
	filesNeverRead,
	groupNotInPattern,
	timeLayoutUnfit,
	expressionAsText,
	variableNotReplaced,
	// What does not start, or sends nowhere.
	extensionNotStarted,
	portConflict,
	addressWithoutPort,
	endpointWithoutScheme,
	endpointWithoutPath,
	schemeInToken,
	otlpHTTPSignalPath,
	otlpPortSwapped,
	// What grows without bounds.
	telemetryLoop,
	ownLogsCollected,
	spanMetricsCardinality,
	spanMetricsUnbounded,
	// What others can read.
	secretInText,
	insecureTLS,
	tlsNotVerified,
	plainHTTP,
	listensEverywhere,
	diagnosticsExposed,
	detailedDebug,
	// What is left over.
	deprecatedName,
	deprecatedComponent,
	unusedAnchor,
}
