package rules

import (
	"context"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

type profileCondition struct {
	noLogs
	noTraces
	noMetrics
	condition *ottl.Condition[generation.Profile]
}

func (c profileCondition) Profiles(ctx context.Context, batch pprofile.Profiles, tally *Tally) error {
	return eachProfile(batch, func(
		resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile,
	) error {
		return evaluate(ctx, c.condition, generation.NewProfile(resource, scope, profile, batch.Dictionary()), tally)
	})
}

type profileSampleCondition struct {
	noLogs
	noTraces
	noMetrics
	condition *ottl.Condition[generation.ProfileSample]
}

func (c profileSampleCondition) Profiles(ctx context.Context, batch pprofile.Profiles, tally *Tally) error {
	return eachProfile(batch, func(
		resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile,
	) error {
		for _, sample := range generation.Samples(profile).All() {
			thing := generation.NewProfileSample(resource, scope, profile, sample, batch.Dictionary())
			if err := evaluate(ctx, c.condition, thing, tally); err != nil {
				return err
			}
		}
		return nil
	})
}

func eachProfile(
	batch pprofile.Profiles, do func(pprofile.ResourceProfiles, pprofile.ScopeProfiles, pprofile.Profile) error,
) error {
	for _, resource := range batch.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				if err := do(resource, scope, profile); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
